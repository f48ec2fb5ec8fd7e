"""Is a configuration right for this machine? Pure checks, before anything runs.

Each check looks at one thing and gives a Finding or None; `audit` runs all of them. Mistakes that
make a configuration invalid are refused by `config` already: these are choices that work, slowly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from myxtts.config import Config
from myxtts.devices import HEADROOM_MB
from myxtts.tools.findings import Change, Finding, ordered

Check = Callable[[Config, int, Sequence[int]], Finding | None]
"""(configuration, cores, MB of each GPU; empty without a GPU) -> what is wrong, or None."""

FEWEST_WORKERS, MOST_WORKERS = 4, 32
FEWEST_PREFETCH, MOST_PREFETCH = 2, 32
LARGEST_BATCH = 64
# Card's memory in GB -> the batch to start from; a card between two rows counts as the smaller.
STARTING_BATCH = {8: 8, 12: 8, 16: 12, 24: 16}


def audit(config: Config, cores: int, gpu_memory_mb: Sequence[int]) -> list[Finding]:
    """Everything that the checks find, the most important first."""
    found = [check(config, cores, gpu_memory_mb) for check in CHECKS.values()]
    return ordered([one for one in found if one is not None])


def starting_batch(gpu_memory_mb: Sequence[int]) -> int | None:
    """The batch that the smallest card should manage; None without a GPU."""
    if not gpu_memory_mb:
        return None
    fitting = [gb for gb in STARTING_BATCH if gb * 1000 <= min(gpu_memory_mb)]
    return STARTING_BATCH[fitting[-1]] if fitting else 1


def _native_loading(config: Config, _cores: int, _gpus: Sequence[int]) -> Finding | None:
    if config.data.use_tf_native_loading:
        return None
    change = Change({"data.use_tf_native_loading": True})
    return Finding("native_loading_off", "fix", {}, None, change)


def _workers(config: Config, cores: int, _gpus: Sequence[int]) -> Finding | None:
    workers = config.data.num_workers or cores
    most = min(MOST_WORKERS, cores)
    fewest = min(FEWEST_WORKERS, cores)
    evidence = {"workers": workers, "cores": cores, "fewest": fewest, "most": most}
    if workers > most:
        change = Change({"data.num_workers": most})
        return Finding("workers_too_many", "fix", evidence, None, change)
    if workers < fewest:
        return Finding("workers_too_few", "fix", evidence, None, Change({"data.num_workers": most}))
    return None


def _prefetch(config: Config, _cores: int, _gpus: Sequence[int]) -> Finding | None:
    ahead = config.data.host_batches_ahead
    if FEWEST_PREFETCH <= ahead <= MOST_PREFETCH:
        return None
    evidence = {"prefetch": ahead, "fewest": FEWEST_PREFETCH, "most": MOST_PREFETCH}
    nearest = FEWEST_PREFETCH if ahead < FEWEST_PREFETCH else MOST_PREFETCH
    change = Change({"data.prefetch_buffer_size": nearest})
    return Finding("prefetch_outside", "fix", evidence, None, change)


def _batch(config: Config, _cores: int, gpus: Sequence[int]) -> Finding | None:
    batch, start = config.data.batch_size, starting_batch(gpus)
    if batch > LARGEST_BATCH:
        evidence = {"batch": batch, "most": LARGEST_BATCH}
        change = Change({"data.batch_size": LARGEST_BATCH})
        return Finding("batch_large", "advice", evidence, None, change)
    if start is not None and batch < start:
        evidence = {"batch": batch, "start": start, "memory_mb": min(gpus)}
        change = Change({"data.batch_size": start})
        return Finding("batch_small", "advice", evidence, None, change)
    return None


def _fixed_shapes(config: Config, _cores: int, _gpus: Sequence[int]) -> Finding | None:
    if config.data.pad_to_fixed_length:
        return None
    return Finding("shapes_dynamic", "fix", {}, None, Change({"data.pad_to_fixed_length": True}))


def _xla(config: Config, _cores: int, gpus: Sequence[int]) -> Finding | None:
    if config.data.enable_xla is not False:
        return None
    change = Change({"data.enable_xla": "auto"})
    return Finding("xla_off", "fix" if gpus else "advice", {}, None, change)


def _overlap(config: Config, _cores: int, _gpus: Sequence[int]) -> Finding | None:
    if config.data.optimize_cpu_gpu_overlap:
        return None
    change = Change({"data.optimize_cpu_gpu_overlap": True})
    return Finding("overlap_off", "fix", {}, None, change)


def _dual_gpu(config: Config, _cores: int, gpus: Sequence[int]) -> Finding | None:
    data = config.data
    if data.virtual_gpus:
        return Finding("virtual_devices", "note", {"devices": data.virtual_gpus}, None, Change())
    if data.data_gpu is None or data.model_gpu is None:
        if len(gpus) < 2:
            return None
        change = Change({"data.data_gpu": 0, "data.model_gpu": 1})
        return Finding("second_gpu_unused", "advice", {"gpus": len(gpus)}, None, change)
    highest = max(data.data_gpu, data.model_gpu)
    if highest >= len(gpus):
        evidence = {"asked": highest, "gpus": len(gpus)}
        change = Change({"data.data_gpu": None, "data.model_gpu": None})
        return Finding("gpu_missing", "fix", evidence, None, change)
    return _memory_limits(config, gpus)


def _memory_limits(config: Config, gpus: Sequence[int]) -> Finding | None:
    data = config.data
    assert data.data_gpu is not None and data.model_gpu is not None
    for key, index, limit in (
        ("data_gpu_memory", data.data_gpu, data.data_gpu_memory),
        ("model_gpu_memory", data.model_gpu, data.model_gpu_memory),
    ):
        room = gpus[index] - HEADROOM_MB
        if limit is not None and limit > room:
            evidence = {"key": key, "limit": limit, "memory_mb": gpus[index]}
            return Finding("limit_high", "fix", evidence, None, Change({f"data.{key}": room}))
    return None


CHECKS: dict[str, Check] = {
    "native_loading": _native_loading,
    "workers": _workers,
    "prefetch": _prefetch,
    "batch": _batch,
    "fixed_shapes": _fixed_shapes,
    "xla": _xla,
    "overlap": _overlap,
    "dual_gpu": _dual_gpu,
}
