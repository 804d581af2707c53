"""`record` makes what `dataclass(frozen=True, slots=True)` makes."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import numpy as np
import pytest

from symgraph.records import record


@record
class Point:
    """Two numbers and a name that does not count."""

    x: float
    y: float = 2.0
    name: str = field(default="", compare=False, repr=False)
    tags: list[str] = field(default_factory=list[str])


@record
class Named(Point):
    """A point with one field more."""

    label: str = "here"


@record
class Single:
    """One field."""

    value: object


@record(eq=False, slots=False)
class Open:
    """With a dictionary, each equal to itself alone."""

    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("negative")


@dataclass(frozen=True, slots=True)
class Twin:
    """Point, made by `dataclass`."""

    x: float
    y: float = 2.0
    name: str = field(default="", compare=False, repr=False)
    tags: list[str] = field(default_factory=list[str])


def test_written_and_called_as_a_dataclass() -> None:
    assert repr(Point(1.0)) == repr(Twin(1.0)).replace("Twin", "Point")
    assert str(inspect.signature(Point)) == str(inspect.signature(Twin))
    assert Point.__match_args__ == Twin.__match_args__
    assert not hasattr(Point(1.0), "__dict__")
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required"):
        Point()  # pyright: ignore[reportCallIssue]


def test_each_instance_has_a_list_of_its_own() -> None:
    assert Point(1.0).tags == []
    assert Point(1.0).tags is not Point(1.0).tags


def test_fields_cannot_be_assigned_or_deleted() -> None:
    for made in (Point(1.0), Named(1.0), Open(1)):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
            made.x = 3  # pyright: ignore[reportAttributeAccessIssue]
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
            del made.x  # pyright: ignore[reportAttributeAccessIssue]
        assert made.x == 1


def test_equal_fields_are_equal_and_have_one_hash() -> None:
    assert Single(1) == Single(1.0)
    assert hash(Single((1, 2))) == hash(Single((1, 2)))
    assert Point(1.0, name="a") == Point(1.0, name="b")
    assert Point(1.0) != Point(2.0)
    assert Point(1.0) != Named(1.0)
    assert Single(np.nan) == Single(np.nan)  # One NaN is itself, as within a tuple.
    assert Open(1) != Open(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1.0))


def test_copies_pickles_and_replaced_fields() -> None:
    for made in (Point(1.0, 3.0, "p", ["t"]), Named(1.0, label="there"), Single(1)):
        assert copy.deepcopy(made) == made
        assert pickle.loads(pickle.dumps(made)) == made
    assert replace(Point(1.0), y=5.0) == Point(1.0, 5.0)
    assert [each.name for each in fields(Named)] == ["x", "y", "name", "tags", "label"]
    assert pickle.loads(pickle.dumps(Open(2))).x == 2


def test_post_init_is_called() -> None:
    with pytest.raises(ValueError, match="negative"):
        Open(-1)
