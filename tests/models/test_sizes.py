from __future__ import annotations

import pytest

from myxtts.errors import UsageError
from myxtts.models.sizes import NAMES, SIZES, size_named


def test_a_built_size_is_found_by_name() -> None:
    assert size_named("tiny") is SIZES["tiny"]
    assert all(size.name == name for name, size in SIZES.items())


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SIZES])
def test_a_size_of_the_family_that_is_not_built_says_what_is(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        size_named(name)
    assert "not available yet" in str(raised.value)
    assert "available: tiny" in str(raised.value)
    assert raised.value.exit_code == 2


def test_an_unknown_size_names_the_family() -> None:
    with pytest.raises(UsageError) as raised:
        size_named("huge")
    assert "huge" in str(raised.value)
    assert all(name in str(raised.value) for name in NAMES)
