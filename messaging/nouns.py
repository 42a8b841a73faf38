"""Registers the noun `message`, the counts that answers report as news and as mail, and retention."""

from ctxhub.core import transfer
from ctxhub.core.accounts.visits import named_in
from ctxhub.core.events import mail
from ctxhub.core.events.cleanup import RetentionRule, cleanup_tasks, retention_rules
from ctxhub.core.hub.overview import register_agent_facts
from ctxhub.core.links import heads_of
from ctxhub.core.registry import Kept, Noun, register
from messaging.messages.history import HISTORY
from messaging.messages.inbox import count_news, count_urgent, unread_of
from messaging.messages.queries import LINKS, open_messages, turns_of
from messaging.models import Message
from messaging.retention import count_old_messages, remove_old_messages, tell_escalated, tell_overdue

transfer.modules.append("messaging.exports")
register(
    Noun(
        "message",
        "messages",
        Message,
        open=open_messages,
        text="text",
        history=HISTORY,
        news=count_news,
        turns=turns_of,
        heads=heads_of("message", Message, "text", at="created_at"),
        links=LINKS,
        deletion=Kept("removes old ones, with the scope admin", call=("hub", "clear")),
    )
)
register_agent_facts(unread_of, "unread")
mail.urgent.append(count_urgent)
retention_rules.append(
    RetentionRule("messages", lambda config: config.messages_last, count_old_messages, remove_old_messages)
)
cleanup_tasks += [lambda project_id, now, _: tell_overdue(project_id, now), tell_escalated]
# An agent that a delivery names is not removed: the message is for it.
named_in.append(("messaging_delivery", "folded"))
