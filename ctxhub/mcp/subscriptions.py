"""`subscriptions/listen`: tells a client which of its resources have changed, from the log of events."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ctxhub.core import registry
from ctxhub.core.events.log import NewEvent, is_new_to
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.mcp.json_rpc import Id, response

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
# An empty inbox is none that has changed: what others do with sent messages is no news of the reader's.
SENT = "sent"

Message = dict[str, Any]


@frozen
class Listening:
    """What a request listens to: URIs as the client wrote them, by the ref or the agent whose inbox it is."""

    request_id: Id
    caller: Caller
    uris_of_refs: Mapping[str, tuple[str, ...]]
    uris_of_inboxes: Mapping[str, tuple[str, ...]]
    signature: Mapping[str, Any]

    @property
    def uris(self) -> list[str]:
        given = (*self.uris_of_refs.values(), *self.uris_of_inboxes.values())
        return [uri for uris in given for uri in uris]

    @property
    def _meta(self) -> Message:
        return {SUBSCRIPTION_ID: self.request_id}

    def acknowledgement(self) -> Message:
        """The first message, with what is listened to: what never changes, or not for this caller, is not."""
        honoured = {"resourceSubscriptions": self.uris} if self.uris else {}
        params = {"notifications": honoured, "_meta": self._meta}
        return _notification("notifications/subscriptions/acknowledged", params)

    def updates(self, events: Iterable[NewEvent]) -> list[Message]:
        """A message for each resource that these events have changed."""
        changed = dict.fromkeys(uri for event in events for uri in self._uris_of(event))
        return [self._update(uri) for uri in changed]

    def all_updates(self) -> list[Message]:
        """The messages for a client that may have missed events."""
        return [self._update(uri) for uri in self.uris]

    def result(self) -> Message:
        """The answer to the request, which ends it."""
        ended = {"resultType": "complete", "_meta": {**self.signature, **self._meta}}
        return response(self.request_id, ended)

    def _uris_of(self, event: NewEvent) -> Iterator[str]:
        yield from self.uris_of_refs.get(event.ref, ())
        if event.verb == SENT and _is_mail(event.noun):
            for agent, uris in self.uris_of_inboxes.items():
                if is_new_to(agent, event):
                    yield from uris

    def _update(self, uri: str) -> Message:
        return _notification("notifications/resources/updated", {"uri": uri, "_meta": self._meta})


def _notification(method: str, params: Message) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _is_mail(kind: str) -> bool:
    noun = registry.find_noun(kind)
    return noun is not None and noun.news is not None
