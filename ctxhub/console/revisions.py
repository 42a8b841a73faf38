"""The page of a row's revisions: the list, the difference of two states, and the button that restores one."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from django.contrib import messages
from django.http import HttpRequest

from ctxhub.console.base import ProjectAdmin
from ctxhub.console.difference import Part, parts_of
from ctxhub.console.text_diff import Piece, diff
from ctxhub.core.accounts.agents import ids_of_names
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.text.plurals import counted

STATES_SHOWN = 30
NEWEST = 2**63 - 1
PRESENT, WHOLE, BEFORE, TWO = "present", "whole", "before", "two"
UNTOUCHED = "Nothing was restored. Check what has changed."


class RowState(Protocol):
    """An earlier or the current state of a row."""

    @property
    def revision(self) -> int: ...
    @property
    def agent(self) -> str: ...
    @property
    def at(self) -> datetime: ...


StateT = TypeVar("StateT", bound=RowState)


@frozen
class Revisions(Generic[StateT]):
    """How the page reads the states of one row.

    `present`: the number of the current one. `find(limit, before)`: those before a number, newest first,
    without texts; `read(number)`: one with its text. `change`: what made a state. `unit`: of sizes.
    """

    project_id: int
    present: int
    find: Callable[[int, int], Sequence[StateT]]
    read: Callable[[int], StateT | None]
    text: Callable[[StateT], str]
    change: Callable[[StateT], str]
    size: Callable[[StateT], int]
    unit: str


@frozen
class StateLine:
    """A state in the list; `delta`: its size minus that of the state before, or None if unknown.

    `agent_id`: None if nobody of that name is registered. `is_from`, `is_to`: whether the page compares it;
    `is_chosen`: whether the page is about it alone.
    """

    state: RowState
    agent_id: int | None
    change: str
    delta: int | None
    is_present: bool
    is_from: bool
    is_to: bool
    is_chosen: bool


@frozen
class Compared:
    """What the page shows: `view`, the two states (`old` is None in a full text), and `parts`, none if equal.

    `chosen`: the state that the page is about, None if it compares any two. `before`: the one before it.
    """

    view: str
    old: RowState | None
    new: RowState
    chosen: RowState | None
    before: int | None
    parts: Sequence[Part]

    @property
    def states(self) -> list[RowState]:
        return [self.chosen] if self.chosen else [state for state in (self.old, self.new) if state]

    @property
    def ends(self) -> list[RowState]:
        """The states from and to which the page compares, newer first."""
        return [self.new, *([self.old] if self.old else [])]

    @property
    def handles(self) -> tuple[int, int]:
        """The numbers from and to which the page compares."""
        return (self.old or self.new).revision, self.new.revision


@frozen
class Description:
    """A compared state in words."""

    state: RowState
    agent_id: int | None
    change: str
    size: str
    may_be_restored: bool


def revisions_page(request: HttpRequest, of: Revisions[StateT]) -> dict[str, Any]:
    """A page of the list, and two states compared: those of `from` and `to`, or `state` with another."""
    before = _number(request, "before") or NEWEST
    found = of.find(STATES_SHOWN + 1, before)
    page = found[:STATES_SHOWN]
    numbers, view = _requested(request)
    read = [of.read(number) for number in numbers or [page[0].revision if page else of.present]]
    states = [state for state in read if state]
    is_complete = len(states) == len(read)
    compared = _compared(of, states, view) if is_complete else None
    lines = _Lines(of, compared, _ids_of_agents(of, page, compared))
    return {
        "lines": lines.of_page(found),
        "newer_lines": lines.elsewhere(page, is_newer=True),
        "older_lines": lines.elsewhere(page, is_newer=False),
        "older": page[-1].revision if len(found) > STATES_SHOWN else None,
        "before": before if before <= of.present else None,
        "compared": compared,
        "descriptions": _descriptions(of, compared, lines.agent_ids),
        "missing": next((number for number, state in zip(numbers, read, strict=False) if not state), None),
    }


def restore_revision(
    model_admin: ProjectAdmin,
    request: HttpRequest,
    row: Any,
    service: Callable[[int, int], Mapping[str, Any]],
) -> str:
    """Call `service(revision, seen)`, which refuses a row that has changed since the user saw it.

    Returns the query of the next URL.
    """
    revision, seen = (read_id(request.POST.get(name) or "0") for name in ("revision", "seen"))
    if revision is None or seen is None:
        return ""

    def refuse(reason: str) -> None:
        messages.error(request, f"{reason} {UNTOUCHED}")

    if model_admin.try_to_write(request, row, partial(service, revision, seen), refuse) is None:
        return f"?state={revision}&against={PRESENT}"
    messages.success(request, f"Revision {revision} was restored.")
    return ""


def _requested(request: HttpRequest) -> tuple[list[int], str]:
    """The numbers of the states to read, older first, and what to show of them; no numbers for the newest."""
    old, new, state = (_number(request, name) for name in ("from", "to", "state"))
    if old and new:
        return (sorted((old, new)), TWO) if old != new else ([new], WHOLE)
    if old or new:
        return [old or new], PRESENT if old else BEFORE
    return [state] if state else [], request.GET.get("against", "")


def _number(request: HttpRequest, name: str) -> int:
    """A number of the query; 0 if it is missing or none."""
    return read_id(request.GET.get(name) or "0") or 0


# -- The list --------------------------------------------------------------------------------------


def _ids_of_agents(
    of: Revisions[StateT], page: Sequence[StateT], compared: Compared | None
) -> Mapping[str, int]:
    """Those of all states on the page, by case-folded name."""
    states: list[RowState] = [
        *page,
        *(compared.states if compared else ()),
        *(compared.ends if compared else ()),
    ]
    return ids_of_names(of.project_id, {state.agent.casefold() for state in states})


@frozen
class _Lines(Generic[StateT]):
    """Makes the lines of the list."""

    of: Revisions[StateT]
    compared: Compared | None
    agent_ids: Mapping[str, int]

    def of_page(self, found: Sequence[StateT]) -> list[StateLine]:
        size = self.of.size
        lines = []
        for index, state in enumerate(found[:STATES_SHOWN]):
            older = found[index + 1] if index + 1 < len(found) else None
            is_first = state.revision == 1
            delta = size(state) - size(older) if older else size(state) if is_first else None
            lines.append(self._line(state, delta))
        return lines

    def elsewhere(self, page: Sequence[StateT], *, is_newer: bool) -> list[StateLine]:
        """The compared states that stand on newer or older pages of the list, so that the form sends them."""
        if not self.compared or not page:
            return []
        first, last = page[0].revision, page[-1].revision
        return [
            self._line(state, None)
            for state in self.compared.ends
            if (state.revision > first if is_newer else state.revision < last)
        ]

    def _line(self, state: Any, delta: int | None) -> StateLine:
        number, compared = state.revision, self.compared
        old, new = compared.handles if compared else (0, 0)
        return StateLine(
            state,
            self.agent_ids.get(state.agent.casefold()),
            self.of.change(state),
            delta,
            is_present=number == self.of.present,
            is_from=number == old,
            is_to=number == new,
            is_chosen=bool(compared and compared.chosen and compared.chosen.revision == number),
        )


# -- The comparison --------------------------------------------------------------------------------


def _compared(of: Revisions[StateT], states: Sequence[StateT], view: str) -> Compared:
    if view != TWO:
        return _one(of, states[0], view)
    old, new = states
    return Compared(TWO, old, new, None, None, _difference(of.text(old), of.text(new)))


def _one(of: Revisions[StateT], chosen: StateT, view: str) -> Compared:
    """The chosen state compared with the present or the one before it; alone if there is no other."""
    text = of.text(chosen)
    older = of.find(1, chosen.revision)
    before = older[0].revision if older else None
    if view == PRESENT and chosen.revision != of.present and (present := of.read(of.present)):
        return Compared(PRESENT, chosen, present, chosen, before, _difference(text, of.text(present)))
    previous = of.read(before) if before and view != WHOLE else None
    if previous is None:
        return Compared(WHOLE, None, chosen, chosen, before, [Part(None, [Piece("same", text)])])
    return Compared(BEFORE, previous, chosen, chosen, before, _difference(of.text(previous), text))


def _difference(old: str, new: str) -> list[Part]:
    return [] if old == new else parts_of(diff(old, new))


def _descriptions(
    of: Revisions[StateT], compared: Compared | None, agent_ids: Mapping[str, int]
) -> list[Description]:
    states: list[Any] = compared.states if compared else []
    return [
        Description(
            state,
            agent_ids.get(state.agent.casefold()),
            of.change(state),
            counted(of.size(state), of.unit),
            state.revision != of.present,
        )
        for state in states
    ]
