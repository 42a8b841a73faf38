"""What the filters of a list name that is not there: told beside an empty list, which else says nothing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxhub.core.events.selectors.events import VERBS, VERBS_OF_ACTION
from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import SHOWN_NAMES, nearest, shown
from ctxhub.core.kit.inputs import separated

# Filters that name something, by what they are called in every list, and what they name.
FILTERS = {
    "agents": "agent",
    "by": "agent",
    "category": "category",
    "scope": "scope",
    "tags": "tag",
    "verbs": "verb",
}
# The others take one name, which may hold a comma.
LISTS = ("agents", "tags", "verbs")
# So many names are looked through for what was meant.
NAMES = 1_000

Named = tuple[str, str]
"""A kind, and a name that a filter says."""


def unknown_names(project_id: int, filters: Mapping[str, Any]) -> dict[str, str]:
    """`{"hint"}` of what these filters name that is not there, and the nearest that is; else nothing.

    For lists that are empty: it asks the database, once or twice.
    """
    named = list(dict.fromkeys(_named(filters)))
    if not named or filters.get("cursor"):
        return {}
    known = _known(project_id, named)
    unknown = [one for one in named if one not in known]
    names = _names(project_id, sorted({kind for kind, _ in unknown} - {"verb"})) | {"verb": VERBS}
    said = [_sentence(kind, name, names[kind]) for kind, name in unknown]
    sentences = [sentence for sentence in said if sentence][:SHOWN_NAMES]
    return {"hint": " ".join(sentences)} if sentences else {}


def _named(filters: Mapping[str, Any]) -> Iterator[Named]:
    for filter_name, kind in FILTERS.items():
        value = filters.get(filter_name)
        listed = [value] if isinstance(value, str) else value or ()
        for name in listed:
            for part in separated(name) if filter_name in LISTS else [name]:
                if (said := part.strip()) and said != "*":
                    yield kind, said


def _known(project_id: int, named: Sequence[Named]) -> set[Named]:
    """Those that are there, whatever their case."""
    parts, values = [], []
    stored = [(kind, name) for kind, name in named if kind != "verb"]
    for kind in dict.fromkeys(kind for kind, _ in stored):
        folded = [name.casefold() for other, name in stored if other == kind]
        parts.append(
            f"SELECT '{kind}', folded FROM core_{kind}"  # noqa: S608
            f" WHERE project_id = %s AND folded IN ({sql.marks(folded)})"
        )
        values += [project_id, *folded]
    found = (
        {(kind, folded) for kind, folded in sql.rows(" UNION ALL ".join(parts), values)} if parts else set()
    )
    verbs = {*VERBS, *VERBS_OF_ACTION}
    return {
        (kind, name)
        for kind, name in named
        if (kind, name.casefold()) in found or (kind == "verb" and name.lower() in verbs)
    }


def _names(project_id: int, kinds: Sequence[str]) -> dict[str, Sequence[str]]:
    """The names there are of each kind, as far as they are looked through."""
    names: dict[str, Sequence[str]] = {}
    branches = [
        f"SELECT '{kind}', name FROM (SELECT name FROM core_{kind}"  # noqa: S608
        f" WHERE project_id = %s ORDER BY id DESC LIMIT %s) of_{kind}"
        for kind in kinds
    ]
    found = sql.rows(" UNION ALL ".join(branches), [project_id, NAMES] * len(branches)) if branches else []
    for kind in kinds:
        names[kind] = [name for other, name in found if other == kind]
    return names


def _sentence(kind: str, name: str, names: Sequence[str]) -> str:
    """Empty for a glob that may match a name beyond those looked through, or that matches one."""
    if kind == "scope" and "*" in name:
        matches = re.compile(".*".join(map(re.escape, name.casefold().split("*"))), re.DOTALL).fullmatch
        if len(names) == NAMES or any(matches(other.casefold()) for other in names):
            return ""
        return f"No scope matches {shown(name)}."
    meant = nearest(name, names)
    known = f" Verbs: {', '.join(VERBS)}." if kind == "verb" and not meant else ""
    return f"There is no {kind} {shown(name)}{f'; did you mean {shown(meant)}?' if meant else '.'}{known}"
