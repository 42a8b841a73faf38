"""Reads whole texts of objects: what an answer would have cost that shortens nothing."""

from collections.abc import Iterable, Iterator

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.registry import Noun, ids_named, split_ref


def texts_of(project_id: int, refs: Iterable[str]) -> Iterator[str]:
    """Title and text of each object that is searchable and still there; a query or two for each kind."""
    names: dict[str, list[str]] = {}
    nouns: dict[str, Noun] = {}
    for ref in dict.fromkeys(refs):
        try:
            noun, name = split_ref(ref)
        except InvalidInput:
            continue
        nouns[noun.kind] = noun
        names.setdefault(noun.kind, []).append(name)
    for kind, noun in nouns.items():
        if noun.documents:
            for document in noun.documents(project_id, ids_named(kind, project_id, names[kind])).now():
                yield f"{document.title}\n{document.text}"
