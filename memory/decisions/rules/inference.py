"""What a decision's key says about it: layer, tags and scope."""

import re

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.inputs import LIST_LENGTH, WORD_LENGTH, clean_name, clean_words

LAYER_OF_PREFIX = {
    "presentation": ("api", "endpoint", "ui"),
    "business": ("service", "logic", "workflow"),
    "data": ("db", "model", "schema"),
    "infrastructure": ("config", "deploy"),
}
OTHERWISE = "business"


class Inferred(TypedDict):
    layer: str | None
    tags: list[str]
    scope: str | None


def infer(key: str) -> Inferred:
    """`db/user-table` is of the layer data, tagged db, user and table, in the scope db.

    The layer follows from the first part of the key, the tags are its words, the scope is its parent path.
    """
    parent, _, _ = key.rpartition("/")
    first = re.split(r"[/\-_.\s]", key.lower(), maxsplit=1)[0]
    layer = next((name for name, prefixes in LAYER_OF_PREFIX.items() if first in prefixes), OTHERWISE)
    words = [word[:WORD_LENGTH] for word in re.split(r"[/\-_,\s]+", key.lower()) if word]
    tags = clean_words(list(dict.fromkeys(words))[:LIST_LENGTH], "tags")
    scope = clean_name(parent[:WORD_LENGTH].replace(",", " "), "scope") if parent.strip(" ,") else None
    return Inferred(layer=layer, tags=tags, scope=scope)
