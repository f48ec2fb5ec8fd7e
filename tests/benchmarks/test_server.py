"""A contender's process answers, fails and is missing in plain words."""

from collections.abc import Iterator

import pytest
from server import Server


def doubling(number: int) -> Iterator[int]:
    while True:
        yield number
        number *= 2


def failing() -> Iterator[int]:
    yield 1
    raise ValueError("no more")


def absent() -> Iterator[int]:
    import a_library_that_nobody_has

    yield a_library_that_nobody_has.answer


def test_it_answers_as_often_as_it_is_asked():
    server = Server("doubling", doubling, 3)
    assert (server.missing, server.ready) == (None, 3)
    assert [server.ask(), server.ask()] == [6, 12]
    server.end()


def test_its_failure_is_told():
    server = Server("failing", failing)
    with pytest.raises(RuntimeError, match=r"(?s)failing failed.*no more"):
        server.ask()
    server.end()


def test_a_library_that_is_not_installed_makes_it_missing():
    server = Server("absent", absent)
    assert server.missing is not None and server.missing.startswith("not installed")
    server.end()
