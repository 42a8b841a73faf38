"""Idempotent writes: a retry with the same request id returns the stored answer and writes nothing."""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from django.db.models import QuerySet

from ctxhub.core.kit import clock
from ctxhub.core.kit.batches import in_batches
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, shown
from ctxhub.core.kit.inputs import clean_name
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import StoredAnswer

RETRY_WINDOW = timedelta(hours=24)
DELETE_BATCH_SIZE = 100

AnswerT = TypeVar("AnswerT")


class UsedRequestId(Conflict):
    """The request id belongs to another call."""


def answer_once(
    caller: Caller,
    request_id: str | None,
    run: Callable[[], AnswerT],
    *,
    operation: str,
    arguments: Mapping[str, Any],
    name: str = "request_id",
) -> AnswerT:
    """Run a write, or return its stored answer if the agent sent this `request_id` in the last 24 hours.

    `operation` and `arguments` identify the call: raises UsedRequestId, without running anything, if the id
    came with another call. `name` is the name of the id in errors. Answers of failed writes are not stored.
    """
    if not request_id:
        return in_batches(run)
    request_id = clean_name(request_id, name)
    digest = _digest(operation, arguments)
    return in_batches(partial(_answer_once, caller, request_id, run, digest))


def find_answer(
    caller: Caller, request_id: str, *, operation: str, arguments: Mapping[str, Any], name: str = "request_id"
) -> Any:
    """The stored answer of a call, None if there is none. Raises UsedRequestId as `answer_once` does.

    For a write that takes long: it runs outside of the transaction that stores its answer.
    """
    return _stored(caller, clean_name(request_id, name), _digest(operation, arguments))


def _stored(caller: Caller, request_id: str, digest: str) -> Any:
    stored = _mine(caller, request_id).filter(created_at__gt=clock.now() - RETRY_WINDOW).first()
    # Answers stored before digests existed match any call.
    if stored and stored.digest not in (digest, ""):
        raise _used(request_id)
    return stored.answer if stored else None


def _mine(caller: Caller, request_id: str) -> QuerySet[StoredAnswer]:
    agent = caller.agent.casefold()
    return StoredAnswer.objects.in_project(caller.project).filter(agent=agent, request_id=request_id)


def _answer_once(caller: Caller, request_id: str, run: Callable[[], AnswerT], digest: str) -> AnswerT:
    with write_transaction(caller.project_id):
        first: AnswerT | None = _stored(caller, request_id, digest)
        if first is not None:
            return first
        answer = run()
        _mine(caller, request_id).delete()
        _delete_old(caller)
        StoredAnswer.objects.create(
            project=caller.project,
            agent=caller.agent.casefold(),
            request_id=request_id,
            digest=digest,
            answer=answer,
            created_at=clock.now(),
        )
    return answer


def _digest(operation: str, arguments: Mapping[str, Any]) -> str:
    """Hash a call, independent of the order of its arguments."""
    try:
        call = json.dumps([operation, arguments], sort_keys=True)
    except (RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(f"The arguments are not JSON: {error}.") from error
    return hashlib.sha256(call.encode()).hexdigest()


def _used(request_id: str) -> UsedRequestId:
    return UsedRequestId(
        f"The request id {shown(request_id)} was another call's less than 24 hours ago; nothing was written.",
        hint="Send a new id with each call, such as a UUID; the same id only to repeat the same call.",
    )


def _delete_old(caller: Caller) -> None:
    answers = StoredAnswer.objects.in_project(caller.project)
    old = answers.filter(created_at__lte=clock.now() - RETRY_WINDOW).order_by("created_at")
    if ids := list(old.values_list("pk", flat=True)[:DELETE_BATCH_SIZE]):
        answers.filter(pk__in=ids).delete()
