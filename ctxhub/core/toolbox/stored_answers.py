"""Idempotent writes: a retry with the same request id returns the stored answer and writes nothing."""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

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


def _answer_once(caller: Caller, request_id: str, run: Callable[[], AnswerT], digest: str) -> AnswerT:
    with write_transaction(caller.project_id):
        mine = StoredAnswer.objects.in_project(caller.project).filter(
            agent=caller.agent.casefold(), request_id=request_id
        )
        if stored := mine.filter(created_at__gt=clock.now() - RETRY_WINDOW).first():
            # Answers stored before digests existed match any call.
            if stored.digest not in (digest, ""):
                raise _used(request_id)
            first: AnswerT = stored.answer
            return first
        answer = run()
        mine.delete()
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
