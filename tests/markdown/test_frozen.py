"""Records: the standard library's frozen dataclasses in all but the time that making one takes."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from linkrag_dagster.markdown.frozen import record


@record
class Made:
    """A record."""

    name: str
    size: int = 3
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standard:
    """What it must not differ from."""

    name: str
    size: int = 3
    tags: tuple[str, ...] = ()


def test_it_is_a_frozen_slotted_dataclass() -> None:
    """Fields, signature, equality, hash, text, copies, pickles."""
    made, standard = Made("a", tags=("x",)), Standard("a", tags=("x",))
    assert type(made) is Made
    assert [(f.name, f.default) for f in fields(made)] == [(f.name, f.default) for f in fields(standard)]
    assert inspect.signature(Made) == inspect.signature(Standard)
    assert repr(made) == repr(standard).replace("Standard", "Made")
    assert made == Made("a", 3, ("x",)) != Made("b", 3, ("x",))
    assert hash(made) == hash(Made("a", 3, ("x",)))
    assert replace(made, size=4) == Made("a", 4, ("x",))
    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
    assert not hasattr(made, "__dict__")


@pytest.mark.parametrize("name", ["name", "size", "other", "__class__"])
def test_nothing_is_assigned_to_it(name: str) -> None:
    """It is mutable while it is being made, and never again."""
    made = Made("a")
    # What is no field is a TypeError in the standard library of Python 3.11.
    refused = FrozenInstanceError if name in ("name", "size") else (FrozenInstanceError, TypeError)
    with pytest.raises(refused):
        setattr(made, name, "b")
    with pytest.raises(refused):
        delattr(made, name)
    assert type(made) is Made
    assert made == Made("a")


def test_arguments_are_checked_as_ever() -> None:
    """A missing or an unknown argument is an error."""
    with pytest.raises(TypeError, match="name"):
        Made()  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="colour"):
        Made("a", colour="red")  # pyright: ignore[reportCallIssue]


def test_what_needs_more_than_its_arguments_is_refused() -> None:
    """Default factories and work after the constructor are not for records."""

    class WithFactory:
        tags: list[str] = field(default_factory=list[str])

    class WithMore:
        name: str

        def __post_init__(self) -> None:
            raise AssertionError

    for cls in (WithFactory, WithMore):
        with pytest.raises(TypeError, match=cls.__name__):
            record(cls)
