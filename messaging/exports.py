"""What messages are in an export."""

from collections.abc import Sequence

from django.db.models import Min

from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Part, Values, register
from messaging.messages.deliveries import insert_results
from messaging.models import Delivery, Message, Result


def _name_threads_anew(project_id: int, rows: Sequence[Values]) -> None:
    """A thread whose first message was deleted begins with the first one that is left."""
    threads = {row["thread_id"] for row in rows if row["thread_id"]}
    messages = Message.objects.in_project(project_id)
    gone = threads - {*messages.filter(pk__in=threads).values_list("pk", flat=True)}
    if not gone:
        return
    left = messages.filter(thread_id__in=gone).order_by().values_list("thread_id").annotate(first=Min("pk"))
    first = dict(left)
    for row in rows:
        if row["thread_id"] in gone:
            now = first[row["thread_id"]]
            row["thread_id"] = None if now == row["id"] else now


def _finish(project_id: int, ids: Sequence[int]) -> None:
    """Store the results, by which requests are found."""
    Result.objects.in_project(project_id).filter(message__in=ids).delete()
    messages = Message.objects.in_project(project_id).filter(pk__in=ids)
    insert_results(project_id, dict(messages.exclude(result_refs=[]).values_list("pk", "result_refs")))


register(
    Exported(
        Message,
        linked=("text",),
        refs=("payload", "result_refs"),
        cleaners={"result_refs": cleaners.texts, "choices": cleaners.texts},
        kind="message",
        parts=(
            Part(
                Delivery,
                name="deliveries",
                owner="message_id",
            ),
        ),
        prepare=_name_threads_anew,
        finish=_finish,
        writes=(Result,),
    )
)
