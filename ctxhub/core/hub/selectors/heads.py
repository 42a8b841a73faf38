"""Reads the heads of objects of any kind."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from ctxhub.core.hub.selectors.refs import find_id
from ctxhub.core.kit.errors import NotFound, shown, unknown_word
from ctxhub.core.links import SUMMARY_CHARACTERS, Head, ObjectKey
from ctxhub.core.registry import all_nouns, find_noun, split_ref


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


def get_head(project_id: int, ref: str, argument: str) -> tuple[ObjectKey, Head]:
    """The object of a ref that can be linked. Raises NotFound or InvalidInput, which name the argument."""
    noun, name = split_ref(ref)
    if noun.heads is None:
        raise unknown_word(argument, noun.kind, [each.kind for each in all_nouns() if each.heads])
    if row_id := find_id(project_id, noun, name):
        key = (noun.kind, row_id)
        if head := find_heads(project_id, [key]).get(key):
            return key, head
    raise NotFound(
        f"{argument}: there is no {noun.kind} {shown(name)}.", hint="search finds the refs of things."
    )
