"""`subscriptions/listen` over HTTP: a stream of events, each of which holds a message."""

from collections.abc import Iterable, Iterator, Mapping

from ctxhub.core.accounts.access_tokens import callers_now
from ctxhub.core.accounts.listeners import Listener
from ctxhub.core.events.following import MOST_REPLAYED, Told
from ctxhub.core.events.log import latest_cursor
from ctxhub.core.kit.errors import Unauthenticated
from ctxhub.core.kit.frozen import frozen
from ctxhub.mcp.progress_streams import event_of
from ctxhub.mcp.subscriptions import Listening


@frozen
class FollowResources:
    """A request over HTTP: its answer is the stream."""

    of: Listening
    listener: Listener
    after: Mapping[int, int]
    most_replayed: int = MOST_REPLAYED

    @property
    def newest(self) -> Mapping[int, int]:
        return self.after

    def beginning(self) -> bytes:
        return event_of(self.of.acknowledgement())

    def frames(self, events: Iterable[Told]) -> Iterator[bytes]:
        return map(event_of, self.of.updates(told.event for told in events))

    def reset(self, event_id: int) -> bytes:  # noqa: ARG002
        return b"".join(map(event_of, self.of.all_updates()))

    def comment(self, event_id: int | None) -> bytes:  # noqa: ARG002
        """Without an id: such a stream cannot be gone on with."""
        return b":\n\n"

    def ending(self) -> bytes:
        return event_of(self.of.result())


def follow(of: Listening) -> FollowResources:
    """Follow from now on. Raises Unauthenticated if the token has been revoked meanwhile."""
    token_id = of.caller.token_id or 0
    token = callers_now({token_id}).get(token_id)
    if token is None:
        raise Unauthenticated("The token was revoked.")
    project_id = of.caller.project_id
    return FollowResources(of, Listener(token), {project_id: latest_cursor(project_id).event_id})
