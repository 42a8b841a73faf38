"""Filters by tags. Tags are a hierarchy: `security` finds `security/tls` as well. Globs find several.

`*` and `?` stay within a level, `**` is any number of levels, `{api,auth}` is either. Brackets are letters.
"""

from collections.abc import Iterable, Sequence

from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import WORD_LENGTH, bounded, clean_name, separated
from ctxhub.core.kit.pages import Condition
from ctxhub.core.text.braces import expand_braces
from ctxhub.core.text.globs import finds_below

WILDCARDS = frozenset("*?")
# What all entries may stand for together: each is a condition of one statement.
MOST_GLOBS = 200


@frozen
class TagFilter:
    """One entry of a filter, and the case-folded names and globs that it stands for."""

    text: str
    globs: Sequence[str]

    @property
    def names(self) -> list[str]:
        """Those that are no globs."""
        return [glob for glob in self.globs if not is_tag_glob(glob)]

    def finds(self, folded: str) -> bool:
        """Whether a tag, or one above it, is meant."""
        return any(
            finds_below(glob)(folded) if is_tag_glob(glob) else _is_at_or_below(folded, glob)
            for glob in self.globs
        )


def is_tag_glob(text: str) -> bool:
    return not WILDCARDS.isdisjoint(text)


def read_tag_filters(values: Iterable[str] | None, name: str) -> list[TagFilter]:
    """Up to 50 entries, without duplicates. Raises InvalidInput for a piece of a list, and for too many."""
    if not values:
        return []
    listed = [
        entry.strip()
        for n, value in enumerate(values)
        for entry in separated(value, f"{name}[{n}]", are_globs=True)
    ]
    found = {
        entry.casefold(): TagFilter(entry, _globs_of(entry, f"{name}[{n}]"))
        for n, entry in enumerate(bounded(listed, name))
    }
    if (count := sum(len(each.globs) for each in found.values())) > MOST_GLOBS:
        raise InvalidInput(
            f"{name} stands for {count} globs once its braces are expanded; the limit is {MOST_GLOBS}.",
            hint="Write wider ones: api* is all that begins so, security/* all below security.",
        )
    return list(found.values())


def may_be_found(filters: Iterable[TagFilter]) -> Condition:
    """The condition on the table of tags that one of these filters may find a row."""
    globs = list(dict.fromkeys(glob for each in filters for glob in each.globs))
    names = [glob for glob in globs if not is_tag_glob(glob)]
    beginnings = {f"{name}/" for name in names} | {_beginning(glob) for glob in globs if is_tag_glob(glob)}
    if "" in beginnings:
        return "1 = 1", []
    found = [sql.begins("folded", each) for each in sorted(beginnings)]
    if names:
        found.insert(0, (f"folded IN ({sql.marks(names)})", names))
    return f"({' OR '.join(text for text, _ in found)})", [value for _, some in found for value in some]


def _globs_of(entry: str, name: str) -> list[str]:
    expanded = expand_braces(entry, name)
    return list(dict.fromkeys(clean_name(each, name, at_most=WORD_LENGTH).casefold() for each in expanded))


def _is_at_or_below(folded: str, name: str) -> bool:
    return folded == name or folded.startswith(f"{name}/")


def _beginning(glob: str) -> str:
    """What all tags begin with that a glob may find: of `security/**` also `security`."""
    first = min(position for sign in WILDCARDS if (position := glob.find(sign)) >= 0)
    return glob[:first].rstrip("/")
