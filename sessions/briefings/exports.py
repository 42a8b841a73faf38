"""What agents were given and told, in an export with `--with-log`."""

from ctxhub.core.transfer.declaration import Exported, Part, register
from sessions.models import Briefing, BriefingItem, Notice, Writing

OBJECT = {"object": ("kind", "object_id")}

register(
    Exported(
        Briefing,
        kind="given",
        parts=(Part(BriefingItem, points=OBJECT, name="items", owner="briefing_id"),),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
    Exported(
        Notice,
        ids={"message_id": "message"},
        points=OBJECT,
        kind="notice",
        natural=("agent_id", "kind", "object_id", "version"),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
    Exported(
        Writing,
        ids={"session_id": "session"},
        points=OBJECT,
        kind="writing",
        natural=("agent_id", "kind", "object_id", "session_id", "session_name"),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
)
