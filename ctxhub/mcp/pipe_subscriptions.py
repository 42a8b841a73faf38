"""The subscriptions of a stdio connection. The thread that watches the log of events writes what changes."""

from collections.abc import Callable, Mapping, Sequence

from ctxhub.core.events.log import NewEvent, latest_cursor
from ctxhub.mcp.json_rpc import INTERNAL_ERROR, Id, RpcError
from ctxhub.mcp.subscriptions import Listening, Message
from ctxhub.mcp.wakeups import watch

MOST = 20

Write = Callable[[Message], None]


class PipeSubscriptions:
    def __init__(self, write: Write) -> None:
        self._write = write
        self._open: dict[str, _Subscription] = {}

    def open(self, listening: Listening) -> None:
        """Acknowledge it, and tell of changes from now on. Raises RpcError if too many are open."""
        self.cancel(listening.request_id)
        if len(self._open) >= MOST:
            raise RpcError(INTERNAL_ERROR, f"{MOST} subscriptions are open, which is the most. Cancel one.")
        project_id = listening.caller.project_id
        newest = latest_cursor(project_id).event_id
        subscription = _Subscription(listening, project_id, newest, self._write, self._forget)
        self._open[str(listening.request_id)] = subscription
        self._write(listening.acknowledgement())
        watch.add(subscription)

    def cancel(self, request_id: Id) -> None:
        """End it without an answer. Some clients send a number as a text when they cancel."""
        if subscription := self._open.pop(str(request_id), None):
            watch.remove(subscription)

    def _forget(self, listening: Listening) -> None:
        self.cancel(listening.request_id)


class _Subscription:
    def __init__(
        self,
        listening: Listening,
        project_id: int,
        newest: int,
        write: Write,
        forget: Callable[[Listening], None],
    ) -> None:
        self._listening, self._project_id, self._seen = listening, project_id, newest
        self._write, self._forget = write, forget

    # -- In the thread of the watch ----------------------------------------------------------------

    @property
    def after(self) -> Mapping[int, int]:
        return {self._project_id: self._seen}

    def take(self, project_id: int, known: int, events: Sequence[NewEvent]) -> None:  # noqa: ARG002
        new = [event for event in events if event.id > self._seen]
        if not new:
            return
        self._seen = new[-1].id
        self._send(self._listening.updates(new))

    def wake(self) -> None:
        """The database was replaced, or the process ends: its answer tells the client to listen again."""
        self._forget(self._listening)
        self._send([self._listening.result()])

    def _send(self, messages: Sequence[Message]) -> None:
        try:
            for message in messages:
                self._write(message)
        except OSError:  # The client is gone; the thread that reads its lines ends the process.
            self._forget(self._listening)
