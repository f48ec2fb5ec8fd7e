"""The acceptance run on the user's own devices: several short real runs, one report.

Batch sizes, one device against two, synchronous against asynchronous, and the tier that follows.
Every case is measured or listed as not measured with its reason; figures of virtual devices are
called that. What a first version does not try is listed too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from myxtts.config import Config
from myxtts.errors import COULD_NOT_MEASURE, GOOD, MUST_FIX, UserError
from myxtts.tools.compare import speedup
from myxtts.tools.figures import RunFigures, of_session
from myxtts.tools.gpu_figures import BELOW, Tier, tier
from myxtts.tools.profile_run import Notice, on_devices, profile, with_corpus
from myxtts.tools.scaling import Scaling, scaling
from myxtts.tools.summary import Summary, summarize
from myxtts.training.study import Study

NOT_TRIED = (
    "the batch where memory ends",
    "memory limits under load",
    "stability over a longer run",
)


@dataclass(frozen=True)
class Case:
    """One configuration of the acceptance run."""

    name: str
    config: Config


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

    @property
    def exit_code(self) -> int:
        """3 when nothing was measured, 1 when a case failed or the tier is below the minimum."""
        if all(one.summary is None for one in self.outcomes):
            return COULD_NOT_MEASURE
        failed = any(one.summary is None for one in self.outcomes)
        return MUST_FIX if failed or self.tier.reached == BELOW else GOOD

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "virtual_devices": self.virtual,
            "cases": [
                {
                    "name": one.name,
                    "not_measured": one.not_measured,
                    "run": one.summary and one.summary.as_json(),
                }
                for one in self.outcomes
            ],
            "dual_speedup": self.dual_speedup,
            "async_speedup": self.async_speedup,
            "scaling": self.scaling and self.scaling.as_json(),
            "tier": vars(self.tier),
            "not_measured": list(NOT_TRIED),
        }


def cases(
    config: Config, batches: Sequence[int], data_gpu: int, model_gpu: int, virtual_gpus: int
) -> list[Case]:
    """Two devices at each batch size; one device and no overlap at the middle one."""
    dual = on_devices(config, data_gpu=data_gpu, model_gpu=model_gpu, virtual_gpus=virtual_gpus)
    single = on_devices(config, data_gpu=None, model_gpu=None, virtual_gpus=virtual_gpus)
    middle = middle_batch(batches)
    overlap = {"data.optimize_cpu_gpu_overlap": True}
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
) -> Acceptance:
    """Run every case, each recorded in a folder of its own below `folder`."""
    planned = cases(with_corpus(config, notice), batches, *devices, virtual_gpus)
    outcomes: list[Outcome] = []
    for number, case in enumerate(planned, start=1):
        notice(f"case {number} of {len(planned)}: {case.name}")
        # The first case measures whether XLA pays; the others keep that, to be comparable.
        pinned = Case(case.name, case.config.replaced({"data.enable_xla": _chosen_xla(outcomes)}))
        outcomes.append(_measured(pinned, folder / case.name, steps, notice))
    return concluded(outcomes, middle_batch(batches), virtual=virtual_gpus > 0)


def concluded(outcomes: list[Outcome], middle: int, *, virtual: bool) -> Acceptance:
    """What follows from the cases."""
    by_name = {one.name: one for one in outcomes}
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
    )


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
