"""`device_plan: auto`: a short trial of each plan that the machine allows, and the fastest wins.

Each trial is a real run in a process of its own, on the run's own corpus, model and batch size, in
one static shape so that it compiles once. Plans are compared by useful frames a second. A plan
with more devices must be clearly faster than one with fewer: the simpler one is easier to live
with. Placing devices is `devices`' business.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from myxtts.config import Config, parse
from myxtts.devices import PlanKind, require_tensorflow
from myxtts.errors import UserError
from myxtts.telemetry.session import Session
from myxtts.training import child_run
from myxtts.training.progress import Display
from myxtts.training.run_folder import RunFolder

TRIAL_STEPS = 24
CLEARLY = 1.03
"""How many times as fast a plan must be to be preferred to one with fewer devices."""

Measure = Callable[[Config, PlanKind], float]
Rates = Mapping[PlanKind, float | None]


def settled(
    config: Config, display: Display, *, resume: bool, measure: Measure | None = None
) -> tuple[Config, Rates]:
    """The configuration with a plan instead of `auto`, and what was measured; else as it is.

    The run's own config.yaml then names the plan, so a resumed run makes no second trial.
    """
    if config.data.device_plan != "auto":
        return config, {}
    RunFolder(config).check(resume=resume)  # before minutes are spent
    count = config.data.virtual_gpus or _gpus()
    plans = candidates(config, count)
    if len(plans) == 1:
        display.say(f"plan auto: one, the only plan with {count} GPU{'' if count == 1 else 's'}")
        return plans["one"], {}
    rates: dict[PlanKind, float | None] = {}
    failures: list[UserError] = []
    for kind, planned in plans.items():
        display.say(f"plan auto: trying {kind} for {TRIAL_STEPS} steps")
        try:
            rates[kind] = (measure or useful_frames_a_second)(planned, kind)
        except UserError as failed:
            failures.append(failed)
            rates[kind] = None
            display.say(f"plan auto: {kind} does not run here: {failed.rule}")
    if not any(rates.values()):
        raise failures[0]
    best = fastest(rates)
    said = ", ".join(
        f"{kind} {rate:,.0f} useful frames/s" if rate else f"{kind} failed"
        for kind, rate in rates.items()
    )
    display.say(f"plan auto: {said}: {best}")
    return plans[best], rates


def candidates(config: Config, gpus: int) -> dict[PlanKind, Config]:
    """The configuration of every plan that so many GPUs allow, fewest devices at work first."""
    plans: dict[PlanKind, Config] = {"one": _planned(config, "one", named=False)}
    if gpus >= 2:
        plans["dual"] = _planned(config, "dual", named=True)
        plans["replicas"] = _planned(config, "replicas", named=config.data.data_gpu is not None)
    return plans


def fastest(rates: Rates) -> PlanKind:
    """The first plan that none is clearly faster than; `rates` in the order of `candidates`."""
    most = max(rate for rate in rates.values() if rate)
    return next(kind for kind, rate in rates.items() if rate and rate * CLEARLY >= most)


def useful_frames_a_second(config: Config, kind: PlanKind) -> float:
    """Of a short real run of one plan."""
    with tempfile.TemporaryDirectory(prefix=f"myxtts-{kind}-") as name:
        folder = Path(name) / "run"
        told = child_run.shortened(config, folder, TRIAL_STEPS)
        one_shape = told.replaced({"data.max_buckets": 1, "training.sample_interval": 0})
        with (Path(name) / "words.txt").open("wb") as words:
            session = child_run.recorded(one_shape, folder, f"The trial of plan {kind}", words)
        return rate_of(session)


def rate_of(session: Session) -> float:
    """Useful frames a second of the steady steps."""
    steps = session.steady_steps
    return sum(step.useful_frames for step in steps) / sum(step.seconds for step in steps)


def _planned(config: Config, kind: PlanKind, *, named: bool) -> Config:
    """The same configuration with this plan; what only two named GPUs can have is dropped."""
    data = config.data.model_dump() | {"device_plan": kind}
    if not named:
        data |= {"data_gpu": None, "model_gpu": None}
    elif data["data_gpu"] is None:
        data |= {"data_gpu": 0, "model_gpu": 1}
    if kind != "dual":
        data |= {"enable_memory_isolation": False}
        data |= {"data_gpu_memory": None, "model_gpu_memory": None}
    return parse(config.model_dump() | {"data": data}, f"plan {kind}")


def _gpus() -> int:
    """Asking does not start TensorFlow: devices can still be placed."""
    return len(require_tensorflow().config.list_physical_devices("GPU"))
