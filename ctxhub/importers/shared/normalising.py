"""What an old name may be called here: each is checked once, by the rules that hold for everybody."""

import re
from collections.abc import Iterable

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import LIST_LENGTH, WORD_LENGTH, clean_agent, clean_name, refuse_secret, separated
from ctxhub.core.text.plurals import singular
from ctxhub.importers.shared.report import Report

_PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|\d[\d,]*")


class Fitting:
    """Cleans the names of agents, tags, scopes and layers; what cannot be kept is told in the report."""

    def __init__(self, caller: Caller, report: Report) -> None:
        self._caller = caller
        self._report = report
        self._known: dict[tuple[str, str], str | None] = {}
        self._first_said: dict[tuple[str, str], str] = {}

    def agent(self, name: str | None) -> str | None:
        return None if name is None else self._once("agents", name)

    def word(self, kind: str, name: str) -> str | None:
        """A tag, scope or layer as it may stand here."""
        return self._once(kind, name)

    def words(self, kind: str, names: Iterable[str]) -> list[str]:
        """The first fifty of them that may stand, each once."""
        kept: dict[str, str] = {}
        for name in (part for said in names for part in separated(said)):
            if (word := self._once(kind, name)) is not None:
                kept.setdefault(word.casefold(), word)
        for name in list(kept.values())[LIST_LENGTH:]:
            self._report.left(kind, name, f"more than {LIST_LENGTH} on one thing")
        return list(kept.values())[:LIST_LENGTH]

    def leave(self, kind: str, what: str | None, error: InvalidInput) -> None:
        """Note what a rule refuses. Refusals that differ in numbers and quotations alone are one reason."""
        shape = (kind, _PARTICULARS.sub("", error.message))
        self._report.left(kind, what or "", self._first_said.setdefault(shape, error.message))

    def _once(self, kind: str, name: str) -> str | None:
        if (kind, name) not in self._known:
            try:
                self._known[kind, name] = self._cleaned(kind, name)
            except InvalidInput as error:
                self._known[kind, name] = None
                self.leave(kind, name, error)
        return self._known[kind, name]

    def _cleaned(self, kind: str, name: str) -> str:
        if kind == "agents":
            return clean_agent(name)
        word = clean_name(name, singular(kind), at_most=WORD_LENGTH)
        refuse_secret(word, singular(kind), self._caller)
        return word
