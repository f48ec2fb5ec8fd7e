"""Memory limits of the two GPUs in isolation mode: as told, or by the card; never too much."""

from __future__ import annotations

from myxtts.config import DataConfig
from myxtts.devices.links import driver_index
from myxtts.errors import UsageError
from myxtts.telemetry.gpu import memory_totals_mb

HEADROOM_MB = 1024  # a limit caps TensorFlow's allocator only: CUDA's own context needs room too

# Card's memory in GB -> (data GPU limit, model GPU limit) in MB, for isolation without limits.
DEFAULT_LIMITS_MB = {8: (3072, 7168), 12: (4096, 8192), 16: (6144, 10240), 24: (8192, 16384)}


def limits_mb(data: DataConfig) -> dict[int, int]:
    """MB for each of the two GPUs, by TensorFlow's numbers."""
    assert data.data_gpu is not None and data.model_gpu is not None
    totals = memory_totals_mb()
    limits = {}
    told = {data.data_gpu: data.data_gpu_memory, data.model_gpu: data.model_gpu_memory}
    for role, (index, limit) in enumerate(told.items()):
        total = totals.get(driver_index(index))
        limits[index] = limit or _default(index, total, role)
        if total is not None and limits[index] > total - HEADROOM_MB:
            raise UsageError(
                f"A memory limit must leave {HEADROOM_MB} MB of the card free",
                received=f"{limits[index]} MB on GPU {index}, which has {total} MB",
                follows="CUDA itself would find no room, and the run would die later",
                remedy=f"a limit of at most {total - HEADROOM_MB} MB",
            )
    return limits


def _default(index: int, total: int | None, role: int) -> int:
    if total is None:
        raise UsageError(
            f"The memory of GPU {index} cannot be read, so its limit cannot be chosen",
            follows="isolation would be a guess",
            remedy="add --data-gpu-memory MB and --model-gpu-memory MB",
        )
    fitting = [gb for gb in DEFAULT_LIMITS_MB if gb * 1000 <= total]
    if not fitting:
        return total - HEADROOM_MB
    return min(DEFAULT_LIMITS_MB[fitting[-1]][role], total - HEADROOM_MB)
