"""Normalises and validates old names, each once, by the rules that hold for all input."""

import re
from collections.abc import Iterable

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import (
    LIST_LENGTH,
    WORD_LENGTH,
    clean_agent,
    clean_new_name,
    refuse_secret,
    separated,
)
from ctxhub.core.text.invisible import invisible_places, marked_all, without_invisible
from ctxhub.core.text.plurals import singular
from ctxhub.importers.shared.report import Report

_VARIABLE_PARTS = re.compile(r"'[^']*'|\"[^\"]*\"|\d[\d,]*")


class Normaliser:
    """Validates names of agents, tags, scopes and layers; refused ones go to the report."""

    def __init__(self, caller: Caller, report: Report) -> None:
        self._caller = caller
        self._report = report
        self._cache: dict[tuple[str, str], str | None] = {}
        self._first_messages: dict[tuple[str, str], str] = {}

    def agent(self, name: str | None) -> str | None:
        return None if name is None else self._normalise("agents", name)

    def word(self, kind: str, name: str) -> str | None:
        """The normalised tag, scope or layer; None if refused."""
        return self._normalise(kind, name)

    def words(self, kind: str, names: Iterable[str]) -> list[str]:
        """The first fifty distinct valid names."""
        kept: dict[str, str] = {}
        for name in self.separated(kind, names):
            if (word := self._normalise(kind, name)) is not None:
                kept.setdefault(word.casefold(), word)
        for name in list(kept.values())[LIST_LENGTH:]:
            self._report.left(kind, name, f"more than {LIST_LENGTH} on one thing")
        return list(kept.values())[:LIST_LENGTH]

    def visible(self, kind: str, name: str) -> str:
        """The name without characters that nobody sees, of which the report tells."""
        if not invisible_places(name.strip()):
            return name
        self._report.changed(kind, marked_all(name), "characters that nobody sees are left out")
        return without_invisible(name)

    def separated(self, kind: str, entries: Iterable[str]) -> list[str]:
        """The names in texts of one or several; a text that cannot be read is reported."""
        names = []
        for entry in entries:
            try:
                names += separated(entry, singular(kind))
            except InvalidInput as error:
                self.leave(kind, entry, error)
        return names

    def leave(self, kind: str, what: str | None, error: InvalidInput) -> None:
        """Report a refusal. Messages that differ only in numbers and quotations count as one reason."""
        shape = (kind, _VARIABLE_PARTS.sub("", error.message))
        self._report.left(kind, what or "", self._first_messages.setdefault(shape, error.message))

    def _normalise(self, kind: str, name: str) -> str | None:
        if (kind, name) not in self._cache:
            try:
                self._cache[kind, name] = self._cleaned(kind, name)
            except InvalidInput as error:
                self._cache[kind, name] = None
                self.leave(kind, name, error)
        return self._cache[kind, name]

    def _cleaned(self, kind: str, name: str) -> str:
        name = self.visible(kind, name)
        if kind == "agents":
            return clean_agent(name)
        word = clean_new_name(name, singular(kind), at_most=WORD_LENGTH)
        refuse_secret(word, singular(kind), self._caller)
        return word
