"""Batches: many writes in one call, atomic or one by one."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput
from ctxhub.core.kit.inputs import LIST_LENGTH
from ctxhub.core.kit.prepared import write_prepared
from ctxhub.core.refusals.services import count_refusal

FieldsT = TypeVar("FieldsT")
PreparedT = TypeVar("PreparedT")
OutcomeT = TypeVar("OutcomeT")

Items = Sequence[Mapping[str, Any] | CtxhubError]
"""The keyword arguments of the service for each item, or the error of an item that is invalid already."""


class BatchAnswer(TypedDict):
    """`results`, in the order of the items: what the write answers for one, or an error with its `index`."""

    done: int
    failed: int
    results: list[dict[str, Any]]


def write_batch(
    caller: Caller,
    items: Items,
    *,
    clean: Callable[..., FieldsT],
    prepare: Callable[[Caller, Sequence[FieldsT]], PreparedT],
    write: Callable[[Caller, PreparedT], Sequence[OutcomeT | CtxhubError]],
    answer: Callable[[OutcomeT], Mapping[str, Any]],
    atomic: bool,
) -> BatchAnswer:
    """Validate up to 50 items, then write the valid ones in one transaction, prepared before its lock.

    `atomic`: the first error is raised, with the `index` of its item, and nothing is written. Otherwise valid
    items are written, and errors are part of the answer.
    """
    refuse_too_many(items)
    cleaned = [_cleaned(caller, item, clean) for item in items]
    if atomic:
        _raise_first_error(cleaned)
    valid = [item for item in cleaned if not isinstance(item, CtxhubError)]

    def write_valid(prepared: PreparedT) -> list[OutcomeT | CtxhubError]:
        written = iter(write(caller, prepared))
        outcomes = [item if isinstance(item, CtxhubError) else next(written) for item in cleaned]
        if atomic:
            _raise_first_error(outcomes)
        return outcomes

    outcomes: Sequence[OutcomeT | CtxhubError] = [item for item in cleaned if isinstance(item, CtxhubError)]
    if valid:
        outcomes = write_prepared(caller.project_id, partial(prepare, caller, valid), write_valid)
    errors = [outcome for outcome in outcomes if isinstance(outcome, CtxhubError)]
    for error in errors:
        count_refusal(caller, error)
    done = len(outcomes) - len(errors)
    return BatchAnswer(done=done, failed=len(errors), results=_results(outcomes, answer))


def write_one(
    caller: Caller,
    prepare: Callable[[], PreparedT],
    write: Callable[[Caller, PreparedT], Sequence[OutcomeT | CtxhubError]],
) -> OutcomeT:
    """Write one item as a batch would. Raises its error."""

    def write_it(prepared: PreparedT) -> OutcomeT:
        [outcome] = write(caller, prepared)
        if isinstance(outcome, CtxhubError):
            raise outcome
        return outcome

    return write_prepared(caller.project_id, prepare, write_it)


def refuse_too_many(items: Sequence[Any]) -> None:
    """Before the items are checked one by one, which takes longer than all else."""
    if len(items) > LIST_LENGTH:
        raise InvalidInput(f"items has {len(items)} entries; the limit is {LIST_LENGTH}.")


def _cleaned(
    caller: Caller, item: Mapping[str, Any] | CtxhubError, clean: Callable[..., FieldsT]
) -> FieldsT | CtxhubError:
    if isinstance(item, CtxhubError):
        return item
    try:
        return clean(caller, **item)
    except CtxhubError as error:
        return error


def _raise_first_error(outcomes: Sequence[object]) -> None:
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, CtxhubError):
            details = {**outcome.details, "index": index}
            raise type(outcome)(outcome.message, hint=outcome.hint, about=outcome.about, **details)


def _results(
    outcomes: Sequence[OutcomeT | CtxhubError], answer: Callable[[OutcomeT], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the answer or error of each item. Equal `allowed` and `hint` are in the first error only."""
    results: list[dict[str, Any]] = []
    seen: list[Any] = []
    for index, outcome in enumerate(outcomes):
        if not isinstance(outcome, CtxhubError):
            results.append(dict(answer(outcome)))
            continue
        body = outcome.body()
        repeated = [name for name in ("allowed", "hint") if body.get(name) in seen]
        seen += [body[name] for name in ("allowed", "hint") if name in body]
        results.append({"index": index, **{n: value for n, value in body.items() if n not in repeated}})
    return results
