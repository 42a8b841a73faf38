"""Document frequencies of the terms of a query, each looked up once."""

from collections.abc import Iterable, Mapping

from ctxhub.core.search.engines import frequencies
from ctxhub.core.search.queries import Term

TermKey = tuple[tuple[tuple[str, ...], ...], bool]
"""The spellings of a term, and whether they are prefixes."""


class Counts:
    """The number of passages of a project that have a term; its alternatives are counted separately."""

    def __init__(self, project_id: int) -> None:
        self._scope = [[f"P{project_id}"]]
        self._known: dict[TermKey, int] = {}

    def look_up(self, terms: Iterable[Term]) -> None:
        """Count the terms and their alternatives: in one statement, or none if all are known."""
        alone = {_key(each): each.alone for term in terms for each in (term, *term.also)}
        new = {key: term for key, term in alone.items() if key not in self._known}
        self._known |= zip(new, frequencies(self._scope, list(new.values())), strict=True)

    def of(self, term: Term) -> int:
        """Return the count of the term itself."""
        return self._known[_key(term)]

    def found(self, term: Term) -> bool:
        """Whether any passage has the term or one of its alternatives."""
        return any(self.of(one) for one in (term, *term.also))

    def of_all(self, terms: Iterable[Term]) -> Mapping[Term, int]:
        """Return the count of each term, or that of its most common alternative if it has none."""
        return {term: self.of(term) or max(map(self.of, term.also), default=0) for term in terms}


def _key(term: Term) -> TermKey:
    return term.spellings, term.prefix
