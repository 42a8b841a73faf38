"""The page of a row's revisions: the list, the difference of two states, and the button that restores one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from django.contrib import messages
from django.http import HttpRequest

from ctxhub.core.accounts.selectors.agents import ids_of_names
from ctxhub.core.admin.base import ProjectAdmin
from ctxhub.core.admin.text_diff import Piece, diff
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.text.plurals import counted

STATES_SHOWN = 30
PRESENT, WHOLE = "present", "whole"
UNTOUCHED = "Nothing was restored. Check what has changed."


class State(Protocol):
    """An earlier or the current state of a row."""

    @property
    def revision(self) -> int: ...
    @property
    def agent(self) -> str: ...
    @property
    def at(self) -> datetime: ...


StateT = TypeVar("StateT", bound=State)


@dataclass(frozen=True, slots=True)
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
    present_text: Callable[[], str]
    change: Callable[[StateT], str]
    size: Callable[[StateT], int]
    unit: str


@dataclass(frozen=True, slots=True)
class StateLine:
    """A state in the list; `delta`: its size minus that of the state before, or None if unknown."""

    state: State
    change: str
    delta: int | None
    is_present: bool
    is_chosen: bool


def revisions_page(request: HttpRequest, of: Revisions[StateT]) -> dict[str, Any]:
    """A page of the list, and the chosen state compared with the one before it or the current one."""
    before = read_id(request.GET.get("before") or "0") or 2**63 - 1
    found = of.find(STATES_SHOWN + 1, before)
    requested = read_id(request.GET.get("state") or "0")
    chosen = of.read(requested or (found[0].revision if found else of.present))
    against = request.GET.get("against", "")
    return {
        "lines": _lines(of, found, chosen),
        "older": found[STATES_SHOWN - 1].revision if len(found) > STATES_SHOWN else None,
        "is_newest_page": before > of.present,
        "chosen": chosen,
        "chosen_by_id": _agent_id(of.project_id, chosen.agent) if chosen else None,
        "chosen_change": of.change(chosen) if chosen else "",
        "chosen_size": counted(of.size(chosen), of.unit) if chosen else "",
        "asked_for": requested,
        **(_beside(of, chosen, against) if chosen else {}),
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


def _lines(of: Revisions[StateT], found: Sequence[StateT], chosen: StateT | None) -> list[StateLine]:
    lines = []
    for index, state in enumerate(found[:STATES_SHOWN]):
        older = found[index + 1] if index + 1 < len(found) else None
        is_first = state.revision == 1
        delta = of.size(state) - of.size(older) if older else of.size(state) if is_first else None
        is_chosen = chosen is not None and state.revision == chosen.revision
        lines.append(StateLine(state, of.change(state), delta, state.revision == of.present, is_chosen))
    return lines


def _agent_id(project_id: int, name: str) -> int | None:
    return ids_of_names(project_id, [name.casefold()]).get(name.casefold())


def _beside(of: Revisions[StateT], chosen: StateT, against: str) -> dict[str, Any]:
    """The chosen state compared with another, or its complete text if there is no other."""
    text = of.text(chosen)
    if against == PRESENT and chosen.revision != of.present:
        return {"against": PRESENT, "pieces": _difference(text, of.present_text())}
    older = of.find(1, chosen.revision)
    before = older[0].revision if older else None
    previous = of.read(before) if before and against != WHOLE else None
    if previous is None:
        return {"against": WHOLE, "before": before, "pieces": [Piece("same", text)]}
    return {"against": "before", "before": before, "pieces": _difference(of.text(previous), text)}


def _difference(old: str, new: str) -> list[Piece]:
    return [] if old == new else diff(old, new)
