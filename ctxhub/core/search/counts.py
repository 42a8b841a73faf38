"""How common the terms of a question are in a project, each asked for once."""

from collections.abc import Iterable, Mapping

from ctxhub.core.search.engines import frequencies
from ctxhub.core.search.queries import Term

Written = tuple[tuple[tuple[str, ...], ...], bool]
"""A term's spellings, and whether they are beginnings."""


class Counts:
    """In how many passages of a project terms are; what stands for a term is counted by itself."""

    def __init__(self, project_id: int) -> None:
        self._scope = [[f"P{project_id}"]]
        self._known: dict[Written, int] = {}

    def look_up(self, terms: Iterable[Term]) -> None:
        """In one statement, or none where all are known."""
        each = {_written(one): one.alone for term in terms for one in (term, *term.also)}
        new = {written: term for written, term in each.items() if written not in self._known}
        self._known |= zip(new, frequencies(self._scope, list(new.values())), strict=True)

    def of(self, term: Term) -> int:
        """Of the term itself."""
        return self._known[_written(term)]

    def found(self, term: Term) -> bool:
        """Whether it is there, or anything that stands for it."""
        return any(self.of(one) for one in (term, *term.also))

    def of_all(self, terms: Iterable[Term]) -> Mapping[Term, int]:
        """Of each term, or of what is most common of all that stands for it."""
        return {term: self.of(term) or max(map(self.of, term.also), default=0) for term in terms}


def _written(term: Term) -> Written:
    return term.spellings, term.prefix
