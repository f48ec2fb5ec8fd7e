"""How much memory a changed run would need, from the estimate that the run wrote at its start.

Batches on the model's device grow with their frames and with the depth of the ring, activations
with the frames; weights, optimiser and gradients stay.
"""

from __future__ import annotations

from myxtts.tools.recording import Recording
from myxtts.tools.what_if import WhatIf

MB = 2**20


def planned_memory_mb(
    run: Recording, what_if: WhatIf, growth: float, recorded_mb: int | None
) -> int | None:
    """`growth`: frames of a batch / as recorded; None when the run did not say what it needs."""
    estimate = next(run.session.of_kind("memory_estimate"), None)
    if estimate is None or recorded_mb is None:
        return recorded_mb if not what_if.batch_size and not what_if.pipeline_depth else None
    batches, activations = float(estimate["batches"]), float(estimate["activations"])
    ring = run.layout.lanes[-1]
    before = max(ring.depth, ring.deepest or 0) + 2  # in work, and handed over
    after = max(what_if.pipeline_depth or ring.depth, ring.deepest or 0) + 2
    more = batches * (growth * after / before - 1) + activations * (growth - 1)
    return max(0, round(recorded_mb + more / MB))
