"""Stores the results of requests, by which the requests are found."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Condition

AT_ONCE = 2_000


def digest_of_ref(ref: str) -> int:
    """A number of 64 bits. Stored ones were made by this: a change needs a migration."""
    return int.from_bytes(hashlib.blake2b(ref.encode(), digest_size=8).digest(), "big", signed=True)


def insert_results(project_id: int, refs: Mapping[int, Iterable[Any]]) -> None:
    """Store the results of messages, by message id; none of them has some yet. Skips what is no text."""
    records = [
        (project_id, message_id, digest)
        for message_id, some in refs.items()
        for digest in sorted({digest_of_ref(ref) for ref in some if isinstance(ref, str)})
    ]
    for some in sql.chunks(records, AT_ONCE):
        sql.insert("messaging_result", ("project_id", "message_id", "digest"), some)


def replace_results(project_id: int, message_id: int, refs: Iterable[Any]) -> None:
    sql.execute(
        "DELETE FROM messaging_result WHERE project_id = %s AND message_id = %s", [project_id, message_id]
    )
    insert_results(project_id, {message_id: refs})


def with_results(column: str, project_id: int, refs: Sequence[str]) -> Condition:
    """The condition that `column` is the id of a message that has one of the refs as a result.

    Another ref may have the same digest: compare the refs, too.
    """
    among, values = sql.among("digest", [digest_of_ref(ref) for ref in refs])
    found = f"SELECT message_id FROM messaging_result WHERE project_id = %s AND {among}"
    return sql.among_found(column, found), [project_id, *values]
