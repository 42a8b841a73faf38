"""Adding or removing a tag or scope through the ORM, from either side, changes `updated_at` of the row."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.kit import clock
from ctxhub.core.models import Category, Project, Scope, Tag
from memory.models import Constraint, Context, Decision, Memory

NOON = "2026-03-02T12:00:00+00:00"


@pytest.fixture(autouse=True)
def now() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def decision(project: Project) -> Decision:
    return Decision.objects.create(project=project, key="k", value="v")


def constraint(project: Project) -> Constraint:
    category = Category.objects.in_project(project).get(name="security")
    return Constraint.objects.create(project=project, category=category, text="A")


def context(project: Project) -> Context:
    return Context.objects.create(project=project, name="Shop")


def memory(project: Project) -> Memory:
    return Memory.objects.create(project=project, context=context(project), title="A", content="B")


TAGGED: list[tuple[Callable[[Project], Any], type[Any], str, str]] = [
    (decision, Tag, "tags", "decisions"),
    (decision, Scope, "scopes", "decisions"),
    (constraint, Tag, "tags", "constraints"),
    (constraint, Scope, "scopes", "constraints"),
    (context, Tag, "tags", "contexts"),
    (memory, Tag, "tags", "memories"),
]
CASES = [pytest.param(*case, id=f"{case[0].__name__}-{case[2]}") for case in TAGGED]


class Tagging:
    """A row and a word (a tag or scope), with the ways to link the two."""

    def __init__(self, project: Project, make: Callable[[Project], Any], model: type[Any], near: str) -> None:
        self.row = make(project)
        self.word = model.objects.create(project=project, name="new word")
        self.near = near
        needs_time = isinstance(self.row, Decision)
        self.defaults = {"project": project, **({"updated_at": clock.now()} if needs_time else {})}

    def add(self) -> None:
        getattr(self.row, self.near).add(self.word, through_defaults=self.defaults)

    @property
    def stored_time(self) -> Any:
        return type(self.row).unscoped.get(pk=self.row.pk).updated_at


@pytest.mark.parametrize(("make", "model", "near", "far"), CASES)
def test_adding_a_word_updates_the_time(
    make: Any, model: Any, near: str, far: str, apollo: Project, now: time_machine.Traveller
) -> None:
    tagging = Tagging(apollo, make, model, near)
    now.shift(timedelta(minutes=1))
    tagging.add()
    assert tagging.stored_time == clock.now()


@pytest.mark.parametrize(("make", "model", "near", "far"), CASES)
def test_adding_a_row_to_a_word_updates_the_time(
    make: Any, model: Any, near: str, far: str, apollo: Project, now: time_machine.Traveller
) -> None:
    tagging = Tagging(apollo, make, model, near)
    now.shift(timedelta(minutes=1))
    getattr(tagging.word, far).add(tagging.row, through_defaults=tagging.defaults)
    assert tagging.stored_time == clock.now()


@pytest.mark.parametrize(("make", "model", "near", "far"), CASES)
def test_removing_a_word_updates_the_time(
    make: Any, model: Any, near: str, far: str, apollo: Project, now: time_machine.Traveller
) -> None:
    tagging = Tagging(apollo, make, model, near)
    tagging.add()
    now.shift(timedelta(minutes=1))
    getattr(tagging.row, near).remove(tagging.word)
    assert tagging.stored_time == clock.now()


@pytest.mark.parametrize(("make", "model", "near", "far"), CASES)
def test_clearing_the_rows_of_a_word_updates_the_time(
    make: Any, model: Any, near: str, far: str, apollo: Project, now: time_machine.Traveller
) -> None:
    tagging = Tagging(apollo, make, model, near)
    tagging.add()
    now.shift(timedelta(minutes=1))
    getattr(tagging.word, far).clear()
    assert tagging.stored_time == clock.now()


@pytest.mark.parametrize(("make", "model", "near", "far"), [pytest.param(*c.values, id=c.id) for c in CASES])
def test_adding_a_word_again_keeps_the_time(
    make: Any, model: Any, near: str, far: str, apollo: Project, now: time_machine.Traveller
) -> None:
    tagging = Tagging(apollo, make, model, near)
    tagging.add()
    before = tagging.stored_time
    now.shift(timedelta(minutes=1))
    tagging.add()
    assert tagging.stored_time == before
