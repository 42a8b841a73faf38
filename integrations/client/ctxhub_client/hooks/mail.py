"""What an agent should see before it waits for its user."""

from __future__ import annotations

from ctxhub_client.settings import is_capturing
from ctxhub_client.texts import NOTE, one_line
from ctxhub_client.values import rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hooks.event import Event
    from ctxhub_client.values import Json


def stop(event: Event) -> Json | None:
    """Before the agent waits for its user: unread urgent messages, each once."""
    if is_capturing():
        from ctxhub_client.hooks.captures import capture

        capture(event)
    from ctxhub_client.hooks.commands import end_turn

    end_turn(event)
    if event.values.get("stop_hook_active"):
        return None
    urgent = [
        one for one in rows_of(event.hub.get("messages/")) if one.get("priority") in ("high", "critical")
    ]
    marks = [str(one.get("id")) for one in urgent]
    if not marks or not event.is_new("mail", *marks):
        return None
    lines = [
        "- message:{} from {}: {}".format(
            one_line(one.get("id"), 20), one_line(one.get("from"), 100), one_line(one.get("text"))
        )
        for one in urgent[:5]
    ]
    head = "Unread urgent messages. Look at them before you stop (`message` `inbox`, then `read`):"
    reason = "\n".join([head, NOTE, *lines])
    answer = {"decision": "block", "reason": reason}
    return dict(answer, followup_message=reason) if event.client == "cursor" else answer
