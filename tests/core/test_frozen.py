"""Frozen classes behave as frozen dataclasses, but for the check at run time, which mypy makes."""

import subprocess
import sys
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from ctxhub.core.kit.frozen import frozen


@frozen
class Point:
    """A point."""

    x: int
    y: int = 0
    note: str = field(default="", compare=False)
    tags: list[str] = field(default_factory=list, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Standard:
    """The same as a standard dataclass."""

    x: int
    y: int = 0
    note: str = field(default="", compare=False)
    tags: list[str] = field(default_factory=list, repr=False, hash=False)


@frozen(kw_only=True)
class Named(Point):
    name: str

    def __repr__(self) -> str:
        return self.name


@frozen(eq=False)
class Itself:
    x: int


@frozen
class OwnHash:
    x: int

    def __hash__(self) -> int:
        return 7


@frozen
class OwnEquality:
    x: int

    def __eq__(self, other: object) -> bool:
        return True


def test_it_is_like_a_standard_one() -> None:
    for each in (Point, Standard):
        assert each(1) == each(1, 0, "x") != each(1, 1)
        assert hash(each(1, 2)) == hash(each(1, 2, "x"))
        assert each(1, tags=["a"]) != each(1)
        assert {each(1): "a"}[each(1)] == "a"
        assert replace(each(1), y=3) == each(1, 3)
        assert not hasattr(each(1), "__dict__")
        assert [one.name for one in fields(each)] == ["x", "y", "note", "tags"]
    assert repr(Point(1)) == repr(Standard(1)).replace("Standard", "Point")
    assert Point(1) not in (object(), Standard(1))


def test_classes_derived_from_one() -> None:
    named = Named(1, name="a")
    assert (named, repr(named)) == (Named(1, 0, name="a"), "a")
    assert named != Point(1)
    assert Point(1) != named


def test_what_a_class_says_itself_stays() -> None:
    assert Itself(1) != Itself(1)
    assert (hash(OwnHash(1)), OwnHash(1) == OwnHash(1), OwnHash(1) == OwnHash(2)) == (7, True, False)
    assert OwnEquality(1) == OwnEquality(2)


def test_a_single_field_and_none() -> None:
    @frozen
    class One:
        x: str

    @frozen
    class Nothing:
        pass

    assert (One("a"), Nothing()) == (One("a"), Nothing())
    assert hash(One("a")) == hash(One("a"))


def test_mypy_refuses_assignments(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""\
from ctxhub.core.kit.frozen import frozen

@frozen
class A:
    x: int

A(1).x = 2
A("a")
""")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports", str(program)]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert 'Property "x" defined in "A" is read-only' in found
    assert 'incompatible type "str"; expected "int"' in found
