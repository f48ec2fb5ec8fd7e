"""GPUs that are not there, handed to TensorFlow's context before it starts.

TensorFlow then checks and remembers what it is told about them as it does with real ones; it must
not be started afterwards. For processes of their own: a context cannot be put back.
"""

from __future__ import annotations

import sys
from typing import Any

from tests.fake_nvml import FakeNvml


def plant(count: int, nvml: FakeNvml | None = None) -> Any:
    """`count` GPUs for TensorFlow, and what the driver says about them; returns TensorFlow."""
    sys.modules["pynvml"] = nvml or FakeNvml(driver=False)  # type: ignore[assignment]
    import tensorflow as tf
    from tensorflow.python.eager import context as eager_context

    context = eager_context.context()
    context._initialize_physical_devices()
    fakes = [tf.config.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(count)]
    context._physical_devices += fakes
    context._physical_device_to_index.update({d: i for i, d in enumerate(fakes)})
    context._visible_device_list += fakes
    context._memory_growth_map.update(dict.fromkeys(fakes))
    return tf


def accepted(tf: Any) -> dict[str, Any]:
    """What TensorFlow took: visible GPUs, memory limits, growth."""
    cards = tf.config.get_visible_devices("GPU")
    logical = {card.name[-1]: tf.config.get_logical_device_configuration(card) for card in cards}
    return {
        "visible": [card.name for card in cards],
        "limits": {name: of and of[0].memory_limit for name, of in logical.items()},
        "growth": {d.name[-1]: tf.config.experimental.get_memory_growth(d) for d in cards},
    }
