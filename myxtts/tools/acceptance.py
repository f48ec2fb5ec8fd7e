"""The acceptance run on the user's own devices: several short real runs, one report.

Batch sizes, one device against two, synchronous against asynchronous, memory limits, the batch
where memory ends, a longer run, and the tier that follows. Every case is measured or listed as not
measured with its reason; figures of virtual devices are called that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from myxtts.config import Config
from myxtts.errors import COULD_NOT_MEASURE, GOOD, MUST_FIX, UserError
from myxtts.telemetry.session import Session
from myxtts.tools.acceptance_limits import (
    MemoryEnd,
    Stability,
    fitted,
    memory_end,
    stability,
)
from myxtts.tools.catalogue import Language
from myxtts.tools.compare import speedup
from myxtts.tools.figures import RunFigures, of_session
from myxtts.tools.gpu_figures import BELOW, Tier, tier
from myxtts.tools.profile_run import Notice, on_devices, profile, with_corpus
from myxtts.tools.scaling import Scaling, scaling
from myxtts.tools.summary import Summary, summarize
from myxtts.training.study import Study

LIMITS, LONG = "memory-limits", "longer-run"
"""The cases that show one thing only."""
MEMORY_STEPS = 5
"""Steps of a run that only asks whether its batches fit."""


@dataclass(frozen=True)
class Case:
    """One configuration of the acceptance run."""

    name: str
    config: Config
    steps: int | None = None
    """None: as many as the others."""


@dataclass(frozen=True)
class Outcome:
    """A case, measured or not."""

    name: str
    summary: Summary | None
    not_measured: str | None

    @property
    def figures(self) -> RunFigures | None:
        return self.summary.figures if self.summary else None


@dataclass(frozen=True)
class Acceptance:
    """All cases, and what follows from them."""

    outcomes: list[Outcome]
    virtual: bool
    dual_speedup: float | None
    """Useful frames per second of two devices against one; None: not measured."""
    async_speedup: float | None
    """Asynchronous against synchronous, on two devices."""
    scaling: Scaling | None
    tier: Tier
    limits_hold: bool | None = None
    """Each device kept to its memory limit, and its batches fitted; None: not measured."""
    memory_end: MemoryEnd | None = None
    stability: Stability | None = None
    not_measured: Mapping[str, str] = field(default_factory=dict)
    """What -> why, both names of `acceptance_words`."""

    @property
    def exit_code(self) -> int:
        """3: nothing was measured; 1: a case failed, is not stable, or is below the minimum."""
        if all(one.summary is None for one in self.outcomes):
            return COULD_NOT_MEASURE
        failed = any(one.summary is None for one in self.outcomes)
        unsteady = self.stability is not None and not self.stability.stable and not self.virtual
        bad = failed or unsteady or self.limits_hold is False or self.tier.reached == BELOW
        return MUST_FIX if bad else GOOD

    def as_json(self, language: Language = "en") -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "virtual_devices": self.virtual,
            "cases": [
                {
                    "name": one.name,
                    "not_measured": one.not_measured,
                    "run": one.summary and one.summary.as_json(language),
                }
                for one in self.outcomes
            ],
            "dual_speedup": self.dual_speedup,
            "async_speedup": self.async_speedup,
            "scaling": self.scaling and self.scaling.as_json(),
            "tier": vars(self.tier),
            "memory_limits_hold": self.limits_hold,
            "memory_end": self.memory_end and asdict(self.memory_end),
            "stability": self.stability
            and asdict(self.stability) | {"stable": self.stability.stable},
            "not_measured": dict(self.not_measured),
        }


def cases(
    config: Config,
    batches: Sequence[int],
    data_gpu: int,
    model_gpu: int,
    virtual_gpus: int,
    stability_steps: int = 0,
) -> list[Case]:
    """Two devices at each batch size; at the middle one also all the rest."""
    dual = on_devices(config, data_gpu=data_gpu, model_gpu=model_gpu, virtual_gpus=virtual_gpus)
    single = on_devices(config, data_gpu=None, model_gpu=None, virtual_gpus=virtual_gpus)
    middle = middle_batch(batches)
    overlap = {"data.optimize_cpu_gpu_overlap": True}
    isolated = {"data.enable_memory_isolation": True}
    same = dual.replaced({"data.batch_size": middle} | overlap)
    return [
        *(
            Case(dual_name(batch), dual.replaced({"data.batch_size": batch} | overlap))
            for batch in sorted(batches)
        ),
        Case("one-device", single.replaced({"data.batch_size": middle} | overlap)),
        Case(
            "synchronous",
            dual.replaced({"data.batch_size": middle, "data.optimize_cpu_gpu_overlap": False}),
        ),
        Case(LIMITS, dual.replaced({"data.batch_size": middle} | overlap | isolated)),
        *([Case(LONG, same, stability_steps)] if stability_steps else []),
    ]


def accept(
    config: Config,
    folder: Path,
    *,
    batches: Sequence[int],
    steps: int,
    devices: tuple[int, int],
    virtual_gpus: int,
    notice: Notice,
    stability_steps: int = 0,
    largest_batch: int = 0,
) -> Acceptance:
    """Run every case, each recorded in a folder of its own below `folder`."""
    ready = with_corpus(config, notice)
    planned = cases(ready, batches, *devices, virtual_gpus, stability_steps)
    outcomes: list[Outcome] = []
    for number, case in enumerate(planned, start=1):
        notice(f"case {number} of {len(planned)}: {case.name}")
        # The first case measures whether XLA pays; the others keep that, to be comparable.
        pinned = Case(case.name, case.config.replaced({"data.enable_xla": _chosen_xla(outcomes)}))
        outcomes.append(_measured(pinned, folder / case.name, case.steps or steps, notice))
    ends = None
    if virtual_gpus == 0 and largest_batch and any(one.summary for one in outcomes):
        ends = _memory_end(planned[-1].config, folder, 2 * max(batches), largest_batch, notice)
    return concluded(outcomes, middle_batch(batches), virtual=virtual_gpus > 0, ends=ends)


def _memory_end(config: Config, folder: Path, first: int, most: int, notice: Notice) -> MemoryEnd:
    def measured(batch: int) -> Session | None:
        notice(f"does a batch of {batch} fit?")
        case = Case(f"memory-batch-{batch}", config.replaced({"data.batch_size": batch}))
        outcome = _measured(case, folder / case.name, MEMORY_STEPS, notice)
        return outcome.summary.session if outcome.summary else None

    return memory_end(measured, first, most)


def concluded(
    outcomes: list[Outcome], middle: int, *, virtual: bool, ends: MemoryEnd | None = None
) -> Acceptance:
    """What follows from the cases."""
    by_name = {one.name: one for one in outcomes}
    limits, longer = by_name.get(LIMITS), by_name.get(LONG)
    stable = stability(longer.summary.session) if longer and longer.summary else None
    dual = by_name[dual_name(middle)]
    against_one = _ratio(by_name["one-device"], dual)
    sweep = [one.figures for one in outcomes if one.name.startswith("dual-") and one.figures]
    return Acceptance(
        outcomes=outcomes,
        virtual=virtual,
        dual_speedup=against_one,
        async_speedup=_ratio(by_name["synchronous"], dual),
        scaling=scaling(sweep) if len(sweep) > 1 else None,
        tier=tier(dual.summary.session, against_one) if dual.summary else Tier(None, "no_samples"),
        limits_hold=fitted(limits.summary.session)
        if limits and limits.summary and not virtual  # a logical CPU device takes no limit
        else None,
        memory_end=ends,
        stability=stable,
        not_measured=_missing(limits, longer, stable, ends, virtual),
    )


def _missing(
    limits: Outcome | None,
    longer: Outcome | None,
    stable: Stability | None,
    ends: MemoryEnd | None,
    virtual: bool,
) -> dict[str, str]:
    """What was not measured -> why."""
    missing = {}
    if virtual:
        missing["limits"] = "shared_memory"
    elif limits is None or limits.summary is None:
        missing["limits"] = "failed"
    if stable is None:
        failed = longer is not None and longer.summary is None
        missing["stability"] = "left_out" if longer is None else "failed" if failed else "too_short"
    if ends is None:
        missing["memory_end"] = "shared_memory" if virtual else "failed"
    return missing


def dual_name(batch: int) -> str:
    """The case of two devices at one batch size."""
    return f"dual-batch-{batch}"


def middle_batch(batches: Sequence[int]) -> int:
    """The batch size that the other cases are measured at."""
    return sorted(batches)[len(batches) // 2]


def _measured(case: Case, folder: Path, steps: int, notice: Notice) -> Outcome:
    try:
        session = profile(case.config, folder, steps=steps, notice=notice, study=Study())
        of_session(session)  # a run without a steady step measured nothing
    except UserError as error:
        reason = str(error).replace("\n", "; ")
        notice(f"not measured: {reason}")
        return Outcome(case.name, None, reason)
    return Outcome(case.name, summarize(session), None)


def _chosen_xla(outcomes: Sequence[Outcome]) -> bool | None:
    """What the first measured case chose; None before there is one."""
    chosen = [one.summary.session.header.get("xla") for one in outcomes if one.summary]
    return chosen[0] if chosen else None


def _ratio(base: Outcome, other: Outcome) -> float | None:
    if base.figures is None or other.figures is None:
        return None
    return speedup(base.figures, other.figures)
