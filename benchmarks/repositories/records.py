"""Decision records: which files they are, and the decision that each contains."""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.repositories.git import Repository
from benchmarks.repositories.prose import (
    Section,
    first_paragraphs,
    front_matter,
    named_paths,
    plain,
    sections,
    with_subsections,
)

FOLDER = re.compile(
    r"adrs?|\.?decisions|(?:architecture[-_])?decision[-_]records|architecture[-_]decisions", re.IGNORECASE
)
# In these only files that say ADR are records.
WIDER = re.compile(r"architecture", re.IGNORECASE)
NAME = re.compile(r"(?:\d{4}-\d\d-\d\d_)?(adr[-_]?)?(\d{1,4})[-_.].*\.mdx?$", re.IGNORECASE)
NUMBER_IN_TITLE = re.compile(r"^(?:adr)?[-_# ]*\d{1,4}\s*[:.)—–-]*\s*", re.IGNORECASE)
_BEFORE = r"(?:\d+[.)]?\s*)?(?:(?:the|our|proposed|final) )?"
DECISION = re.compile(
    rf"{_BEFORE}decisions?\b(?! (?:drivers?|makers?|log|criteria|records?|date))", re.IGNORECASE
)
REASONS = re.compile(
    rf"{_BEFORE}(?:context|background|problem|motivation|rationale|why|consequences|decision drivers)\b",
    re.IGNORECASE,
)
MOST_VALUE, MOST_RATIONALE, MOST_PATHS = 1_000, 3_000, 20


@dataclass(frozen=True, slots=True)
class Record:
    """A decision record. `key`: under which it is stored."""

    number: int
    path: str
    title: str
    value: str
    rationale: str
    paths: tuple[str, ...]

    @property
    def stem(self) -> str:
        return stem_of(self.path)

    @property
    def key(self) -> str:
        return f"adr/{self.stem}"


def record_files(files: Iterable[str]) -> list[str]:
    """The records of the folder that has most of them, and of those below it; each number once."""
    found = sorted(path for path in files if _is_record(path))
    folders = Counter(posixpath.dirname(path) for path in found)
    if not folders:
        return []
    folder = max(sorted(folders), key=lambda name: folders[name])
    numbered = defaultdict(list)
    for path in found:
        if path.startswith(f"{folder}/"):
            numbered[number_of(path)].append(path)
    return sorted(paths[0] for paths in numbered.values() if len(paths) == 1)


def _is_record(path: str) -> bool:
    *folders, base = path.split("/")
    name = NAME.match(base)
    if not name or "template" in path.casefold():
        return False
    return any(FOLDER.fullmatch(part) or (name[1] and WIDER.fullmatch(part)) for part in folders)


def folder_of(paths: Iterable[str]) -> str:
    """The folder in which all records are; "" without any."""
    folders = [posixpath.dirname(path) for path in paths]
    return posixpath.commonpath(folders) if folders else ""


def number_of(path: str) -> int:
    found = NAME.match(posixpath.basename(path))
    assert found is not None
    return int(found[2])


def stem_of(path: str) -> str:
    """The name of the file without its date and ending."""
    return re.sub(r"^\d{4}-\d\d-\d\d_", "", posixpath.basename(path)).rpartition(".")[0]


def read_record(repository: Repository, path: str, quoting: Sequence[str]) -> Record:
    """`quoting`: patterns; lines in which one is found are left out."""
    text = without_quotes(repository.read(path), quoting)
    parts = sections(text)
    title = title_of(text, parts) or stem_of(path)
    at = posixpath.dirname(path)
    named = (
        name
        for name in named_paths(text, repository.files, repository.folders, at=at)
        if name.count("/") > 1 or not name.endswith("/**")
        if not name.startswith(f"{at}/")
    )
    value = decision_of(parts) or f"{title}. {first_paragraphs(_all(parts), MOST_VALUE)}"
    paths = tuple(dict.fromkeys(named))[:MOST_PATHS]
    return Record(number_of(path), path, title, value, reasons_of(parts), paths)


def without_quotes(text: str, quoting: Sequence[str]) -> str:
    """The text without the lines in which one of the patterns is found."""
    if not quoting:
        return text
    pattern = re.compile("|".join(quoting), re.IGNORECASE)
    return "\n".join(line for line in text.splitlines() if not pattern.search(line))


def title_of(text: str, parts: Sequence[Section]) -> str:
    heading = next((part.heading for part in parts if part.level == 1), "")
    if not heading and (found := re.search(r"^title:\s*[|>]?\s*(.+)$", front_matter(text), re.MULTILINE)):
        heading = plain(found[1]).strip("\"' ")
    return NUMBER_IN_TITLE.sub("", heading)


def decision_of(parts: Sequence[Section]) -> str:
    """The first paragraphs of the first section Decision that has any."""
    texts = (
        first_paragraphs(with_subsections(parts, place), MOST_VALUE)
        for place, part in enumerate(parts)
        if part.level > 1 and DECISION.match(part.heading)
    )
    return next(filter(None, texts), "")


def reasons_of(parts: Sequence[Section]) -> str:
    texts = [
        with_subsections(parts, place)
        for place, part in enumerate(parts)
        if part.level > 1 and REASONS.match(part.heading)
    ]
    share = MOST_RATIONALE // max(1, len(texts))
    return "\n\n".join(filter(None, (first_paragraphs(text, share) for text in texts)))


def _all(parts: Sequence[Section]) -> str:
    return "\n\n".join(part.text for part in parts)
