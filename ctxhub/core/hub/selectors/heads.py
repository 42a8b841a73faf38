"""Reads the heads of objects of any kind."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from ctxhub.core.links import SUMMARY_CHARACTERS, Head, ObjectKey
from ctxhub.core.registry import find_noun


def find_heads(
    project_id: int, keys: Collection[ObjectKey], *, why_characters: int = SUMMARY_CHARACTERS
) -> Mapping[ObjectKey, Head]:
    """Those of existing objects, with one query for each kind."""
    ids: dict[str, list[int]] = defaultdict(list)
    for kind, row_id in sorted(keys):
        ids[kind].append(row_id)
    return {
        (kind, row_id): head
        for kind, some in ids.items()
        if (noun := find_noun(kind)) and noun.heads
        for row_id, head in noun.heads(project_id, some, why_characters=why_characters).items()
    }
