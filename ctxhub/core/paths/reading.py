"""Reads paths and lists of paths as models and people write them, for every argument and form of the hub.

What stands around a path is cut: quotes, a leading `@`, a place in the file such as `:42`. A name that is
known stays as it is, and so does every path of a call that says `exact`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from ctxhub.core.kit.caller import Caller, current
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    LIST_LENGTH,
    bounded,
    clean_asked_globs,
    clean_glob_list,
    clean_name,
    clean_path,
    clean_paths,
)
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.kit.text_lists import UnreadableList
from ctxhub.core.paths.case import compared_in, ignores_case
from ctxhub.core.paths.known import find_known, stored_spellings
from ctxhub.core.text.braces import has_braces
from ctxhub.core.text.glob_parts import WILDCARDS
from ctxhub.core.text.glob_syntax import reads_otherwise
from ctxhub.core.text.path_case import fold_path
from ctxhub.core.text.path_forms import doubtful, is_plain, listed_paths, misplaced, names_several, spellings

AS_A_LIST = 'Write a list: ["src/a.py", "src/b.py"].'
EXACT = "For a file that is really called so, add exact:true."


@frozen(slots=False, eq=False)
class PathReader:
    """Reads the paths of one call. It looks up only names that may be more than a path, all in one query.

    `exact`: what is written is a name. `ignores_case`: a file that is stored keeps its spelling.
    """

    project_id: int
    exact: bool = False
    ignores_case: bool = False
    _known: dict[str, bool] = field(default_factory=dict)
    _read_as: dict[str, str] = field(default_factory=dict)
    _stored: dict[str, str] = field(default_factory=dict)

    def path(self, text: str, name: str = "path") -> str:
        """One path or glob. `name`: of the argument, for errors. Raises InvalidInput."""
        self.learn([text])
        found = self._entries(text, name)
        if len(found) > 1 and not names_several(text, found):
            found = [text]
        if len(found) > 1:
            raise InvalidInput(
                f"{name} is one path, and {shown(text)} names {len(found)}.", hint=f"Name one. {EXACT}"
            )
        return self._read(found[0] if found else "", name)

    def paths(self, texts: Iterable[str] | None, name: str = "paths") -> list[str]:
        """Up to 50 paths or globs; one text may name several. Raises InvalidInput."""
        given = bounded(texts, name)
        self.learn(given)
        named = [
            (entry, f"{name}[{position}]")
            for position, text in enumerate(given)
            for entry in self._entries(text, f"{name}[{position}]")
        ]
        bounded([entry for entry, _ in named], name)
        return [self._read(entry, where) for entry, where in named]

    def bearing(self, texts: Iterable[str] | None, name: str = "paths") -> list[str]:
        """Globs of files that an object bears on, with braces expanded; some may exempt."""
        return clean_paths(self.paths(texts, name), name, is_name=self._is_name)

    def expanded(self, texts: Iterable[str] | None, name: str = "paths") -> list[str]:
        """Up to 50 globs with braces expanded; none exempts."""
        return clean_glob_list(self.paths(texts, name), name, is_name=self._is_name)

    def asked(self, text: str, name: str = "path") -> list[str]:
        """What one path or glob that is asked for stands for: itself, and its braces expanded."""
        return clean_asked_globs(self.path(text, name), name, is_name=self._is_asked_name)

    def all_asked(self, texts: Iterable[str] | None, name: str = "paths") -> list[str]:
        """What up to 50 paths or globs that are asked for stand for."""
        return [
            glob
            for n, path in enumerate(self.paths(texts, name))
            for glob in clean_asked_globs(path, f"{name}[{n}]", is_name=self._is_asked_name)
        ]

    @property
    def hint(self) -> str:
        """How names that a file may really have were read instead; else empty."""
        if not self._read_as:
            return ""
        return f"Read as {', '.join(self._read_as.values())}: exact:true takes a name as it is written."

    def learn(self, texts: Iterable[str]) -> None:
        """Look up the names that these texts may mean, in one query; in none, if all are plain paths."""
        texts = list(texts)
        written = [
            each for text in texts if self.ignores_case or not is_plain(text) for each in _written(text)
        ]
        asked = set[str]() if self.exact else {name for each in written for name in each.names_asked()}
        if new := asked - self._known.keys():
            found = find_known(self.project_id, new)
            self._known.update({name: name in found for name in new})
        if self.ignores_case:
            self._learn_spellings(name for each in written for name in each.names())

    def _entries(self, text: str, name: str) -> list[str]:
        """The texts that a text means; itself if it is one path."""
        if self.exact or is_plain(text):
            return [text]
        try:
            listed = listed_paths(text)
        except UnreadableList:
            raise InvalidInput(f"{name}: {shown(text)} is no list of paths.", hint=AS_A_LIST) from None
        if listed is None or any(map(self._is_known, _forms(text))):
            return [text]
        if len(listed) > 1 and not any(blank in text.strip() for blank in " \t\n[\"'"):
            self._read_as[text] = " and ".join(map(shown, listed))
        return listed

    def _read(self, text: str, name: str) -> str:
        is_name = self.exact or is_plain(text)
        path = clean_path(text if is_name else self._without_marks(text, name), name)
        return self._stored.get(path, path)

    def _without_marks(self, text: str, name: str) -> str:
        forms = _forms(clean_name(text, name, at_most=PATH_LENGTH))
        path = next((form for form in forms if self._is_known(form)), forms[-1])
        if what := misplaced(path):
            raise InvalidInput(
                f"{name}: {shown(text)} is {what}; a path is relative to the repository.",
                hint=f"Leave out what leads to the repository: src/api/auth.py. {EXACT}",
            )
        if (what := doubtful(path)) and not self._is_known(path):
            raise InvalidInput(f"{name}: {shown(text)} {what}.", hint=f"{AS_A_LIST} {EXACT}")
        if _is_mention(forms) and path != forms[0] and not self._is_known(path):
            self._read_as[text] = shown(path)
        return path

    def _is_name(self, path: str) -> bool:
        """Whether a path is the name of a file, of which nothing is expanded."""
        return self.exact or self._known.get(path, False)

    def _is_asked_name(self, path: str) -> bool:
        """The same for what is asked for, where braces also stand for other files."""
        return self.exact or (self._is_name(path) and not has_braces(path))

    def _is_known(self, form: str) -> bool:
        return bool(self._known) and self._known.get(_name_of(form) or "", False)

    def _learn_spellings(self, names: Iterable[str]) -> None:
        files = {name for name in names if WILDCARDS.isdisjoint(name)}
        new = sorted(name for name in files if name not in self._stored)
        for find in stored_spellings if new else ():
            self._stored.update(find(self.project_id, new))


def reader_of(caller: Caller) -> PathReader:
    """Reads the paths of a call of the caller."""
    return PathReader(caller.project_id, exact=caller.exact_paths, ignores_case=ignores_case(caller))


def reader_in(project_id: int) -> PathReader:
    """Reads the paths of the current call, where the caller is not at hand."""
    caller = current()
    if caller and caller.project_id == project_id:
        return reader_of(caller)
    return PathReader(project_id, ignores_case=compared_in(project_id) is fold_path)


@frozen
class _Written:
    """A text that may be a path, and what is left of it as marks are cut. `is_several`: it is also a list."""

    forms: Sequence[str]
    is_several: bool = False

    def names(self) -> Iterator[str]:
        return (name for form in self.forms if (name := _name_of(form)))

    def names_asked(self) -> Iterator[str]:
        """The names that count if they are known; none of a plain path."""
        last = self.forms[-1]
        is_plain = not (self.is_several or doubtful(last) or reads_otherwise(last) or _is_mention(self.forms))
        if is_plain and len(self.forms) == 1:
            return
        for form in self.forms[:-1] if is_plain else self.forms:
            if name := _name_of(form):
                yield name


def _written(text: str) -> list[_Written]:
    """The text, and each path of the list that it is."""
    try:
        listed = listed_paths(text)
    except UnreadableList:
        return []
    if listed is None or len(listed) > LIST_LENGTH:
        return [_Written(_forms(text))]
    return [_Written(_forms(text), is_several=True), *(_Written(_forms(each)) for each in listed)]


def _is_mention(forms: Sequence[str]) -> bool:
    """Whether a leading `@` was cut that may be that of a folder: `@types/node.d.ts`."""
    return forms[0].startswith("@") and "/" in forms[-1]


def _forms(text: str) -> Sequence[str]:
    return spellings(text.strip()) if 0 < len(text) < 2 * PATH_LENGTH else [text]


def _name_of(form: str) -> str | None:
    """The form as paths are stored; None if it can be no path."""
    try:
        return clean_path(form, "path")
    except InvalidInput:
        return None
