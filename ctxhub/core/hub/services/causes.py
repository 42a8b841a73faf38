"""Links an object of any kind with its cause, which may be of any other kind."""

from datetime import datetime

from ctxhub.core.links import Head, ObjectKey
from ctxhub.core.registry import all_nouns


def link_cause(
    *, project_id: int, agent_id: int | None, effect: ObjectKey, cause: ObjectKey, head: Head, at: datetime
) -> None:
    """Store that an object follows from another, with `head`, in the open transaction; call it last."""
    refs = (f"{effect[0]}:{effect[1]}", head.refs[0])
    for noun in all_nouns():
        if noun.links and noun.links.write_cause:
            noun.links.write_cause(
                project_id=project_id, agent_id=agent_id, effect=effect, cause=cause, refs=refs, at=at
            )
