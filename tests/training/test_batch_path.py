"""Which stages run in which thread, and how many batches wait between them."""

import pytest

from myxtts.config import Config
from myxtts.training.batch_path import BatchPath
from myxtts.training.stages import Lane, Stage


class OnDevice:
    """Stands for a preprocessor: the lanes ask only where it is."""

    device = "/GPU:0"


def lanes(model_device: str = "/GPU:1", **settings: object) -> dict[str, Lane]:
    data = Config().replaced({f"data.{key}": value for key, value in settings.items()}).data
    path = BatchPath(None, data, OnDevice(), model_device)
    made = path.lanes(Stage("load", print), data.pipeline_depth)
    return {lane.ring: lane for lane in made}


def stages(**settings: object) -> dict[str, list[str]]:
    found = lanes(**settings)
    return {name: [stage.name for stage in lane.stages] for name, lane in found.items()}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"host": ["load", "upload"], "ready": ["preprocess", "transfer"]}),
        (
            {"prefetch_to_gpu": False},
            {"host": ["load"], "ready": ["upload", "preprocess", "transfer"]},
        ),
        (
            {"enhanced_gpu_prefetch": True},
            {"host": ["load"], "uploaded": ["upload"], "ready": ["preprocess", "transfer"]},
        ),
    ],
    ids=["ahead of need", "when needed", "a thread of its own"],
)
def test_where_a_batch_is_uploaded(settings, expected):
    assert stages(**settings) == expected


def test_one_device_needs_no_transfer():
    assert stages(model_device="/GPU:0")["ready"] == ["preprocess"]


def test_rings_have_the_configured_depths():
    made = lanes(prefetch_buffer_size=5, pipeline_depth=2)
    assert {name: lane.depth for name, lane in made.items()} == {"host": 5, "ready": 2}
    assert lanes(batch_size=16)["host"].depth == 4


def test_only_the_ring_between_the_devices_adapts_and_only_as_far_as_told():
    def deepest(**settings: object) -> list[int | None]:
        return [lane.deepest for lane in lanes(**settings).values()]

    assert deepest() == [None, 16]
    assert deepest(pipeline_depth_max=5, enhanced_gpu_prefetch=True) == [None, None, 5]
    assert deepest(pipeline_depth=6, pipeline_depth_max=5) == [None, 6]
    assert deepest(adaptive_depth=False) == [None, None]
