"""Reads replies to messages, and results of requests, as links: a message is the cause of both."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from ctxhub.core.hub.selectors.refs import find_keys
from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Condition
from ctxhub.core.links import Asked, Holder, Link, LinkSource, ObjectKey, Words
from ctxhub.core.registry import find_noun
from messaging.models import RequestState
from messaging.sql.results import with_results

KIND, REPLY_TO, RESULT_REFS = "message", "reply_to", "result_refs"
WORDS = {
    REPLY_TO: Words("replies to", "is answered by"),
    RESULT_REFS: Words("resulted in", "is a result of"),
}


def read_links(asked: Asked) -> list[Link]:
    """The links of objects with the messages that led to them, or of messages with what they led to."""
    return _read_causes(asked) if asked.to_causes else _read_effects(asked)


def _read_causes(asked: Asked) -> list[Link]:
    """The messages that these messages reply to, and the requests that have these objects as results."""
    keys = _keys_of_refs(asked)
    named, refs = sql.among("r.value", list(keys))
    found, found_values = with_results("m.id", asked.project_id, list(keys))
    done, done_values = _done(asked)
    own, values = sql.by_ids("m", asked.project_id, asked.ids(KIND))
    branches: list[Condition] = [
        (
            f"SELECT 0, m.id, r.value FROM {_results()} WHERE {found} AND {done} AND {named}",
            [*found_values, *done_values, *refs],
        ),
        (
            "SELECT m.id, m.reply_to_id, '' FROM messaging_message m"
            f" WHERE {own} AND m.reply_to_id IS NOT NULL",
            values,
        ),
    ]
    rows = _rows(asked, branches if asked.ids(KIND) else branches[:1])
    return [
        _result(keys[ref], (KIND, cause)) if ref else Link((KIND, here), (KIND, cause), REPLY_TO)
        for here, cause, ref in rows
    ]


def _read_effects(asked: Asked) -> list[Link]:
    """The replies to these messages, and the results of those that are requests."""
    if not (ids := asked.ids(KIND)):
        return []
    replies, values = sql.among("m.reply_to_id", ids)
    own, _ = sql.among("m.id", ids)
    done, done_values = _done(asked)
    found = _rows(
        asked,
        [
            (
                "SELECT m.reply_to_id, m.id, '' FROM messaging_message m"
                f" WHERE {replies} AND +m.project_id = %s",
                [*values, asked.project_id],
            ),
            (f"SELECT m.id, 0, r.value FROM {_results()} WHERE {done} AND {own}", [*done_values, *values]),
        ],
    )
    keys = find_keys(asked.project_id, {ref for *_, ref in found if ref})
    links = [Link((KIND, one), (KIND, reply), REPLY_TO) for one, reply, ref in found if not ref]
    return links + [_result((KIND, one), keys[ref]) for one, _, ref in found if ref in keys]


def _result(here: ObjectKey, there: ObjectKey) -> Link:
    return Link(here, there, RESULT_REFS, holder=Holder.CAUSE)


def _keys_of_refs(asked: Asked) -> dict[str, ObjectKey]:
    """The objects by the refs that results may have for them; names are read for kinds that have some."""
    found: dict[str, ObjectKey] = {}
    for kind in {kind for kind, _ in asked.keys}:
        ids, noun = asked.ids(kind), find_noun(kind)
        if noun and noun.ids_of and noun.heads:
            heads = noun.heads(asked.project_id, ids)
            found |= {ref: (kind, row_id) for row_id, head in heads.items() for ref in head.refs}
        else:
            found |= {f"{kind}:{row_id}": (kind, row_id) for row_id in ids}
    return found


def _done(asked: Asked) -> Condition:
    """The requests that are done; they are found by id, not by project."""
    return f"+m.project_id = %s AND m.state = {RequestState.DONE.value}", [asked.project_id]


def _results() -> str:
    """Messages `m`, each with every one of its results as `r.value`."""
    if connection.vendor == "sqlite":
        return "messaging_message m CROSS JOIN json_each(m.result_refs) r"
    return "messaging_message m CROSS JOIN LATERAL jsonb_array_elements_text(m.result_refs) r(value)"


def _rows(asked: Asked, branches: Sequence[Condition]) -> list[tuple[Any, ...]]:
    text = " UNION ALL ".join(f"SELECT * FROM ({branch}) b{n}" for n, (branch, _) in enumerate(branches))
    values = [value for _, some in branches for value in some]
    return sql.rows(f"{text} ORDER BY 1, 2, 3 LIMIT %s", [*values, asked.at_most])


LINKS = LinkSource(read_links, words=WORDS)
