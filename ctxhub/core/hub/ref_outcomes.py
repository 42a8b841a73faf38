"""Deletes or restores what several refs name, each by itself, and answers what became of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NamedTuple, NotRequired, TypeVar

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.batches import in_batches
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotAllowed
from ctxhub.core.kit.inputs import LIST_LENGTH
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.refusals.services import count_refusal
from ctxhub.toolbox.argument_types import About, one_of

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
Asked = TypeVar("Asked")


def refused_as(error: CtxhubError, ref: str, result: str = "") -> Outcome:
    if isinstance(error, NotAllowed):
        error.about = error.about or ref
    return Outcome(result or error.code, error.message, error)


def each_by_itself(
    caller: Caller,
    refs: Sequence[str],
    sort_out: Callable[[Caller, Sequence[str]], tuple[Outcomes, Asked]],
    run: Callable[[Caller, Asked, bool], Outcomes],
    *,
    result: str,
    dry_run: bool,
) -> Listing:
    """Answer what became of up to 50 refs, in one transaction unless what they name is large.

    `sort_out` refuses some without a look at what they name, and returns what is asked of `run` for the
    others, which gets True in a dry run. Raises the error of the refs if none has the `result`, or in a dry
    run if none can: of one ref its own, of several that of the first, with all rows.
    """
    if not 1 <= len(refs) <= LIST_LENGTH:
        raise InvalidInput(f"refs has {len(refs)} entries; name 1 to {LIST_LENGTH}.", missing=["refs"])
    refused, asked = sort_out(caller, refs)

    def write() -> Outcomes:
        with write_transaction(caller.project_id):
            return run(caller, asked, False)

    if not asked:
        done: Outcomes = {}
    else:
        done = run(caller, asked, True) if dry_run else in_batches(write)
    outcomes = {ref: refused.get(ref) or done[ref] for ref in dict.fromkeys(refs)}
    errors = [outcome.error for outcome in outcomes.values()]
    if not dry_run:
        _count_refusals(caller, outcomes)
    if all(errors) and (not dry_run or all(isinstance(error, InvalidInput) for error in errors)):
        raise _nothing_done(outcomes, result)
    extra = {"dry_run": dry_run, "hint": _hint(outcomes)}
    return Listing(COLUMNS, _rows(outcomes), extra={name: value for name, value in extra.items() if value})


def _count_refusals(caller: Caller, outcomes: Outcomes) -> None:
    for outcome in outcomes.values():
        if outcome.error:
            count_refusal(caller, outcome.error)


def _nothing_done(outcomes: Outcomes, done: str) -> CtxhubError:
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


def _rows(outcomes: Outcomes) -> list[list[str]]:
    return [[ref, outcome.result, outcome.note] for ref, outcome in outcomes.items()]


def _hint(outcomes: Outcomes) -> str:
    """The hint of the first error of each kind."""
    hints: dict[type[CtxhubError], str] = {}
    for outcome in outcomes.values():
        if outcome.error and outcome.error.hint:
            hints.setdefault(type(outcome.error), outcome.error.hint)
    return " ".join(dict.fromkeys(hints.values()))
