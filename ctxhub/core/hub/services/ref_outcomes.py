"""What became of each of several refs that were deleted or restored, and the answer that tells it."""

from collections.abc import Mapping
from typing import Annotated, NamedTuple, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, NotAllowed
from ctxhub.core.kit.listing import Listing
from ctxhub.core.refusals.services import count_refusal
from ctxhub.core.toolbox.argument_types import About, one_of

COLUMNS = ("ref", "result", "note")
DELETED, RESTORED = "deleted", "restored"
NOT_FOUND, NOT_ALLOWED, CONFLICT = "not_found", "not_allowed", "conflict"


class DeletedRow(TypedDict):
    ref: str
    result: Annotated[str, one_of(DELETED, RESTORED, NOT_FOUND, NOT_ALLOWED, CONFLICT)]
    note: NotRequired[Annotated[str, About("What went or came with it, or why it did not.")]]


class Outcome(NamedTuple):
    """What became of a ref, or would. `error`: why nothing did."""

    result: str
    note: str = ""
    error: CtxhubError | None = None


Outcomes = Mapping[str, Outcome]


def refused_as(error: CtxhubError, ref: str, result: str = "") -> Outcome:
    if isinstance(error, NotAllowed):
        error.about = error.about or ref
    return Outcome(result or error.code, error.message, error)


def count_refusals(caller: Caller, outcomes: Outcomes) -> None:
    for outcome in outcomes.values():
        if outcome.error:
            count_refusal(caller, outcome.error)


def nothing_done(outcomes: Outcomes, done: str) -> CtxhubError:
    """The error where no ref was `done`: of one ref its own, of several that of the first, with all rows."""
    first, *others = [outcome.error for outcome in outcomes.values() if outcome.error]
    if not others:
        return first
    error = type(first)(
        f"None of the {len(outcomes)} was {done}.",
        hint=_hint(outcomes),
        **Listing(COLUMNS, _rows(outcomes)).answer(),
    )
    error.is_counted = True
    return error


def listing_of(outcomes: Outcomes, *, dry_run: bool) -> Listing:
    extra = {"dry_run": dry_run, "hint": _hint(outcomes)}
    return Listing(COLUMNS, _rows(outcomes), extra={name: value for name, value in extra.items() if value})


def _rows(outcomes: Outcomes) -> list[list[str]]:
    return [[ref, outcome.result, outcome.note] for ref, outcome in outcomes.items()]


def _hint(outcomes: Outcomes) -> str:
    """The hint of the first error of each kind."""
    hints: dict[type[CtxhubError], str] = {}
    for outcome in outcomes.values():
        if outcome.error and outcome.error.hint:
            hints.setdefault(type(outcome.error), outcome.error.hint)
    return " ".join(dict.fromkeys(hints.values()))
