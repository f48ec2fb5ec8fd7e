"""Devices: which ones a run uses and for what, chosen before TensorFlow starts.

`place` turns the configuration into a `DevicePlan` and tells TensorFlow. What runs on the devices
is `training`'s business; trying plans out against each other is `training.plan_trials`'.
"""

from myxtts.devices.limits import DEFAULT_LIMITS_MB, HEADROOM_MB
from myxtts.devices.links import Link
from myxtts.devices.placement import place
from myxtts.devices.plan import DevicePlan, PlanKind
from myxtts.devices.starting import require_tensorflow

__all__ = [
    "DEFAULT_LIMITS_MB",
    "HEADROOM_MB",
    "DevicePlan",
    "Link",
    "PlanKind",
    "place",
    "require_tensorflow",
]
