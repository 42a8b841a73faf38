"""A write that is sent again, under the same request id, answers as it did and writes nothing."""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from ctxhub.core import clock
from ctxhub.core.caller import Caller
from ctxhub.core.inputs import clean_name
from ctxhub.core.models import StoredAnswer
from ctxhub.core.writing import writing

RETRY_WINDOW = timedelta(hours=24)
FORGOTTEN_AT_ONCE = 100

AnswerT = TypeVar("AnswerT")


def answer_once(
    caller: Caller, request_id: str | None, run: Callable[[], AnswerT], *, name: str = "request_id"
) -> AnswerT:
    """What `run` answers, or answered when this agent sent this `request_id` within the last 24 hours.

    `name` is what the face calls the id, for its errors. A write that is refused is not remembered.
    """
    if not request_id:
        return run()
    request_id = clean_name(request_id, name)
    with writing(caller.project_id):
        mine = StoredAnswer.objects.in_project(caller.project).filter(
            agent=caller.agent.casefold(), request_id=request_id
        )
        if stored := mine.filter(created_at__gt=clock.now() - RETRY_WINDOW).first():
            first: AnswerT = stored.answer
            return first
        answer = run()
        mine.delete()
        _forget_old(caller)
        StoredAnswer.objects.create(
            project=caller.project,
            agent=caller.agent.casefold(),
            request_id=request_id,
            answer=answer,
            created_at=clock.now(),
        )
    return answer


def _forget_old(caller: Caller) -> None:
    answers = StoredAnswer.objects.in_project(caller.project)
    old = answers.filter(created_at__lte=clock.now() - RETRY_WINDOW).order_by("created_at")
    if some := list(old.values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE]):
        answers.filter(pk__in=some).delete()
