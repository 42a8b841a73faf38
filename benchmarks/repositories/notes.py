"""Notes: the sections of a repository's documentation."""

import posixpath
import re
from collections.abc import Collection
from dataclasses import dataclass

from benchmarks.repositories.git import Repository
from benchmarks.repositories.prose import clipped, sections
from benchmarks.repositories.spread import evenly

FILE = re.compile(r"(?:^|/)(?:README\.md$|(?:docs?|documentation)/.*\.mdx?$)")
LEAST, MOST, MOST_NOTES = 80, 2_000, 400


@dataclass(frozen=True, slots=True)
class Note:
    title: str
    text: str


def read_notes(repository: Repository, others: Collection[str], folder: str) -> list[Note]:
    """`others`: records and rules; `folder`: of the records, no file of which is a note, or ""."""
    found: dict[str, Note] = {}
    for path in sorted(repository.files):
        is_other = path in others or (folder and path.startswith(f"{folder}/"))
        if FILE.search(path) and not is_other:
            for note in notes_of(path, repository.read(path)):
                found.setdefault(note.text, note)
    return evenly(list(found.values()), MOST_NOTES)


def notes_of(path: str, text: str) -> list[Note]:
    parts = sections(text)
    name = next((part.heading for part in parts if part.level == 1), "") or posixpath.basename(path)
    return [
        Note(": ".join(dict.fromkeys((name, part.heading or name)))[:300], clipped(part.text, MOST))
        for part in parts
        if len(part.text) >= LEAST
    ]
