"""Infers the layer, tags and scope of a decision from its key."""

import re

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.inputs import LIST_LENGTH, WORD_LENGTH, clean_name, clean_words

LAYER_OF_PREFIX = {
    "presentation": ("api", "endpoint", "ui"),
    "business": ("service", "logic", "workflow"),
    "data": ("db", "model", "schema"),
    "infrastructure": ("config", "deploy"),
}
DEFAULT_LAYER = "business"


class Inferred(TypedDict):
    layer: str | None
    tags: list[str]
    scope: str | None


def infer(key: str) -> Inferred:
    """Infer `db/user-table` as layer data, tags db, user and table, scope db.

    The first part of the key gives the layer, its words are the tags, its parent path is the scope.
    """
    parent, _, _ = key.rpartition("/")
    first = re.split(r"[/\-_.\s]", key.lower(), maxsplit=1)[0]
    layer = next((name for name, prefixes in LAYER_OF_PREFIX.items() if first in prefixes), DEFAULT_LAYER)
    words = [word[:WORD_LENGTH] for word in re.split(r"[/\-_,\s]+", key.lower()) if word]
    tags = clean_words(list(dict.fromkeys(words))[:LIST_LENGTH], "tags")
    scope = clean_name(parent[:WORD_LENGTH].replace(",", " "), "scope") if parent.strip(" ,") else None
    return Inferred(layer=layer, tags=tags, scope=scope)
