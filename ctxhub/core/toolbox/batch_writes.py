"""Many writes in one call: all or nothing, or each for itself."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput
from ctxhub.core.kit.inputs import LIST_LENGTH
from ctxhub.core.kit.transactions import write_transaction

FieldsT = TypeVar("FieldsT")
OutcomeT = TypeVar("OutcomeT")

Items = Sequence[Mapping[str, Any] | CtxhubError]
"""What a service takes for each item; or the error with which a face has refused the item already."""


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
    write: Callable[[Caller, Sequence[FieldsT]], Sequence[OutcomeT | CtxhubError]],
    answer: Callable[[OutcomeT], Mapping[str, Any]],
    atomic: bool,
) -> BatchAnswer:
    """Clean up to 50 items, then write those that are good in one transaction.

    `atomic`: nothing is written if anything is wrong, and the first error is raised with the `index` of its
    item. Otherwise what can be done is done.
    """
    if len(items) > LIST_LENGTH:
        raise InvalidInput(f"items has {len(items)} entries; the limit is {LIST_LENGTH}.")
    cleaned = [_cleaned(caller, item, clean) for item in items]
    if atomic:
        _refuse_any(cleaned)
    with write_transaction(caller.project_id):
        written = iter(write(caller, [item for item in cleaned if not isinstance(item, CtxhubError)]))
        outcomes = [item if isinstance(item, CtxhubError) else next(written) for item in cleaned]
        if atomic:
            _refuse_any(outcomes)
    failed = sum(isinstance(outcome, CtxhubError) for outcome in outcomes)
    return BatchAnswer(done=len(outcomes) - failed, failed=failed, results=_results(outcomes, answer))


def _cleaned(
    caller: Caller, item: Mapping[str, Any] | CtxhubError, clean: Callable[..., FieldsT]
) -> FieldsT | CtxhubError:
    if isinstance(item, CtxhubError):
        return item
    try:
        return clean(caller, **item)
    except CtxhubError as error:
        return error


def _refuse_any(outcomes: Sequence[object]) -> None:
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, CtxhubError):
            raise type(outcome)(outcome.message, hint=outcome.hint, **{**outcome.details, "index": index})


def _results(
    outcomes: Sequence[OutcomeT | CtxhubError], answer: Callable[[OutcomeT], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """How each item went. What would have been right is told once, not with each item that got it wrong."""
    results: list[dict[str, Any]] = []
    told: list[Any] = []
    for index, outcome in enumerate(outcomes):
        if not isinstance(outcome, CtxhubError):
            results.append(dict(answer(outcome)))
            continue
        body = outcome.body()
        repeated = [name for name in ("allowed", "hint") if body.get(name) in told]
        told += [body[name] for name in ("allowed", "hint") if name in body]
        results.append({"index": index, **{n: said for n, said in body.items() if n not in repeated}})
    return results
