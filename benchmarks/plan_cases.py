"""What `myxtts plan` is asked in its benchmark: base runs, and the changes that are predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myxtts.tools.what_if import WhatIf

Settings = Mapping[str, Any]
"""Keys of the section `data`."""

JITTERY = {"load": 0.5, "preprocess": 0.5, "training": 0.1}
SLEEPING: dict[str, tuple[dict[str, Any], Settings, tuple[WhatIf, ...]]] = {
    "training is the limit": (
        {"train": (4.0, 1.5)},
        {"batch_size": 16},
        (
            WhatIf(model_faster=1.5), WhatIf(model_faster=4.0), WhatIf(overlap=False),
            WhatIf(batch_size=32), WhatIf(batch_size=8), WhatIf(pipeline_depth=8),
        ),
    ),
    "preprocessing is the limit": (
        {"live": (1.0, 2.5), "train": (3.0, 1.0)},
        {"batch_size": 16, "features": "live"},
        (
            WhatIf(model_faster=3.0), WhatIf(batch_size=32), WhatIf(batch_size=4),
            WhatIf(overlap=False), WhatIf(pipeline_depth=12),
        ),
    ),
    "one worker loads": (
        {"load": (1.0, 3.0), "train": (3.0, 1.0)},
        {"batch_size": 16, "num_workers": 1},
        (WhatIf(num_workers=2), WhatIf(num_workers=4), WhatIf(batch_size=8), WhatIf(overlap=False)),
    ),
    "nothing overlaps": (
        {"load": (1.0, 1.0), "live": (1.0, 0.8), "train": (3.0, 1.2)},
        {"batch_size": 16, "features": "live", "optimize_cpu_gpu_overlap": False},
        (
            WhatIf(overlap=True), WhatIf(model_faster=2.0), WhatIf(batch_size=32),
            WhatIf(overlap=True, model_faster=2.0), WhatIf(num_workers=1),
        ),
    ),
    "jitter and one buffer": (
        {"load": (1.0, 2.0), "live": (1.0, 1.0), "train": (3.0, 1.0), "jitter": JITTERY},
        {
            "batch_size": 16, "features": "live", "pipeline_depth": 1, "adaptive_depth": False,
            "prefetch_buffer_size": 1,
        },
        (
            WhatIf(pipeline_depth=2), WhatIf(pipeline_depth=6), WhatIf(pipeline_depth=16),
            WhatIf(model_faster=1.5), WhatIf(overlap=False),
        ),
    ),
    "loading stalls": (
        {"load": (1.0, 1.0), "train": (3.0, 1.0), "stalls": (0.04, 120.0)},
        {"batch_size": 16, "pipeline_depth": 3, "adaptive_depth": False, "prefetch_buffer_size": 1},
        (WhatIf(pipeline_depth=12), WhatIf(pipeline_depth=1), WhatIf(model_faster=2.0)),
    ),
}  # fmt: skip

REAL: tuple[tuple[Settings, bool, tuple[WhatIf, ...]], ...] = (
    (
        {"batch_size": 8, "features": "live"},
        True,
        (
            WhatIf(overlap=False), WhatIf(features="cached"), WhatIf(pipeline_depth=6),
            WhatIf(device_plan="one"), WhatIf(batch_size=4),
        ),
    ),
    (
        {"batch_size": 8},
        True,
        (
            WhatIf(batch_size=4), WhatIf(batch_size=12), WhatIf(batch_size=16),
            WhatIf(overlap=False), WhatIf(pipeline_depth=1),
        ),
    ),
    (
        {"batch_size": 8, "features": "live", "optimize_cpu_gpu_overlap": False},
        True,
        (
            WhatIf(overlap=True), WhatIf(features="cached"), WhatIf(batch_size=4),
            WhatIf(device_plan="one"),
        ),
    ),
    (
        {"batch_size": 4},
        False,
        (
            WhatIf(batch_size=8), WhatIf(overlap=False), WhatIf(device_plan="dual"),
            WhatIf(pipeline_depth=6),
        ),
    ),
)  # fmt: skip
COMMON = {
    "data.enable_xla": False,
    "data.max_buckets": 1,
    "data.pipeline_depth": 2,
    "data.prefetch_buffer_size": 2,
    "data.adaptive_depth": False,
    "training.report_interval": 1000,
    "training.checkpoint_interval": 100_000,
    "training.max_steps": 100_000,
    "training.epochs": 100_000,
}
