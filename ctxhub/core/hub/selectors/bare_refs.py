"""Refs without a kind, as agents write them: a key, a path, the name of a context."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotFound, shown
from ctxhub.core.kit.inputs import PATH_LENGTH, clean_name, read_id
from ctxhub.core.registry import OTHER_KINDS, Noun, all_nouns, find_noun, names_a_kind
from ctxhub.core.search.selectors.search import search
from ctxhub.core.text.path_forms import spellings

NEAR = 5
RESOURCE = "resource"
_FILE = re.compile(r"(?:[^\s:/\\]+/)*[^\s:/\\]*\w\.[A-Za-z]\w{0,7}")
_KIND_AND_ID = re.compile(r"([A-Za-z]+)\s*[\s/#=-]\s*(\d+)")


def is_bare(ref: str) -> bool:
    """Whether a ref may be the name of an object without its kind: an id is none, as every kind has it."""
    name = ref.strip()
    return bool(name) and not names_a_kind(name) and read_id(name) is None and name.strip(":") == name


def meanings_of(project_id: int, refs: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """For each ref without a kind the refs of the objects of this name, with one query for each kind."""
    names = {ref: name for ref in refs if is_bare(ref) and (name := _name_in(ref))}
    if not names:
        return {}
    meant: dict[str, list[str]] = {ref: [] for ref in names}
    for noun in _named_nouns():
        found = _names_known(noun, project_id, list(names.values()))
        for ref, name in names.items():
            if name in found:
                meant[ref].append(f"{noun.kind}:{name}")
    return meant


def _name_in(ref: str) -> str:
    """The name, as those of objects are read; "" for what none can have."""
    with suppress(InvalidInput):
        return clean_name(ref, "ref", at_most=PATH_LENGTH)
    return ""


def file_named(ref: str) -> str:
    """The ref of the file that a bare path can only mean, whether it is known or not; "" for other names."""
    path = spellings(ref.strip())[-1]
    return f"{RESOURCE}:{path}" if is_bare(ref) and _FILE.fullmatch(path) else ""


def why_not(project_id: int, ref: str, meant: Sequence[str], error: InvalidInput) -> CtxhubError:
    """Why a bare ref names nothing, or not one thing. `error`: what was said of its form."""
    if len(meant) > 1:
        return means_several(ref, meant)
    if suggested := _kind_and_id(ref):
        return InvalidInput(error.message, hint=error.hint, did_you_mean=suggested)
    if ":" in ref or not is_bare(ref) or not _name_in(ref):
        return error
    near = [hit.ref for hit in search(project_id, ref, detail="ids", limit=NEAR).hits]
    return NotFound(
        f"{shown(ref)} is not a ref, and nothing is called so.",
        hint="A ref is a kind, a colon and a name: decision:api/auth/method.",
        near=near,
    )


def means_several(ref: str, meant: Sequence[str]) -> InvalidInput:
    return InvalidInput(
        f"{shown(ref)} is the name of {len(meant)} things.", hint="Name one by its ref.", allowed=list(meant)
    )


def _kind_and_id(ref: str) -> str:
    """`memory:17` for `memory 17`, `memory/17` and `memory #17`."""
    found = _KIND_AND_ID.fullmatch(ref.strip())
    kind = found[1].lower() if found else ""
    kind = OTHER_KINDS.get(kind, kind)
    return f"{kind}:{found[2]}" if found and find_noun(kind) else ""


def _named_nouns() -> Sequence[Noun]:
    """The kinds whose refs hold names: of the others an id is the name."""
    return [noun for noun in all_nouns() if noun.open and (noun.ids_of or noun.is_named)]


def _names_known(noun: Noun, project_id: int, names: Sequence[str]) -> Iterable[str]:
    if noun.ids_of:
        return noun.ids_of(project_id, names)
    assert noun.open is not None
    return noun.open(project_id, names, False)
