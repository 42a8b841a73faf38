"""What a noun gives to be found by, and how it lies in the index."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from ctxhub.core.models import SearchText
from ctxhub.core.search.analyser import analyse, surface_words
from ctxhub.core.search.queries import MONTHS

# A longer text is looked up in passages. They overlap, so that a phrase is whole in one of them.
PASSAGE_CHARACTERS = 4_000
OVERLAP = 200
MAX_SURFACE_WORDS = 1_000
# The scope word of what bears a mark: it is not in force.
OVER = "Z"
# That of an earlier state: its thing says something else now.
EARLIER = "W"
# So much of an earlier state is looked up.
EARLIER_CHARACTERS = 16_000
# The id of a passage is its entry's and its own number: so what is found says whose it is.
PARTS = SearchText.PARTS


@dataclass(frozen=True, slots=True)
class Document:
    """One findable thing. `title` and `body` are what a person reads, and what excerpts are cut from.

    `unshown` is found as well, and no text: names of scopes, globs. `at` is when it last changed; `layer_id`,
    `agent_id` and `context_id` are what a search may ask for. `mark` stands behind the title in answers: why
    it is not in force ("deprecated"). It ranks lower, then. `also` are words of the scope that its noun looks
    it up by. Of an earlier state `thing_id` is the row of its thing, and `ref` that thing's.
    """

    object_id: int
    ref: str
    title: str
    body: str
    at: datetime
    tags: Sequence[str] = ()
    agent_id: int | None = None
    layer_id: int | None = None
    context_id: int | None = None
    mark: str = ""
    also: Sequence[str] = ()
    unshown: Sequence[str] = ()
    owner_id: int | None = None

    @property
    def text(self) -> str:
        """All that it is found by, beside its title and tags."""
        return "\n\n".join(part for part in (self.body, *self.unshown) if part)

    @property
    def shown_title(self) -> str:
        return f"{self.title} ({self.mark})" if self.mark else self.title


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document, as it is looked up. `start`: where it begins in the body."""

    part: int
    start: int
    words: str
    size: int


def text_id(entry_id: int, part: int) -> int:
    return entry_id * PARTS + part


def passages(document: Document) -> list[Passage]:
    """The title, tags and the date are in front: they say what a thing is about better than any sentence."""
    return last_passages(document, 0, 0)


def last_passages(document: Document, part: int, start: int) -> list[Passage]:
    """Those from the `part`-th on, of a document whose text is what stands from `start` on in the text."""
    head = analyse(document.title)
    also = [*analyse("\n".join(document.tags)), *date_words(document.at)]
    found = []
    text = document.text
    for own, (begin, end) in enumerate(islice(spans(text), PARTS - part), start=part):
        words = head + ([] if own else also) + analyse(text[begin:end])
        found.append(Passage(own, start + begin, " ".join(words), len(words)))
    return found


def spans(body: str) -> Iterator[tuple[int, int]]:
    """Where the passages of a text lie; each ends at a blank, where one is near."""
    start = 0
    while len(body) - start > PASSAGE_CHARACTERS:
        end = start + PASSAGE_CHARACTERS
        blank = max(body.rfind("\n", end - OVERLAP, end), body.rfind(" ", end - OVERLAP, end))
        end = blank if blank > 0 else end
        yield start, end
        start = end - OVERLAP
    yield start, len(body)


def earlier_text(was: str, now: str) -> str:
    """The lines of an earlier text that are not in the one that followed it; "": all of them are."""
    kept = set(now.splitlines())
    return "\n".join(line for line in was.splitlines() if line not in kept)[:EARLIER_CHARACTERS]


def known_words(document: Document) -> set[str]:
    """The words by which a mistyped one is put right."""
    found = surface_words(f"{document.title}\n{chr(10).join(document.tags)}\n{document.text}")
    return found if len(found) <= MAX_SURFACE_WORDS else set(sorted(found)[:MAX_SURFACE_WORDS])


def scope_words(project_id: int, kind: str, document: Document) -> str:
    """What a search narrows by. Upper case, so that no word of a text is one of them."""
    ids = (("A", document.agent_id), ("L", document.layer_id), ("C", document.context_id))
    words = [f"P{project_id}", kind_word(kind), *(f"{letter}{row}" for letter, row in ids if row is not None)]
    words += [OVER] if document.mark else []
    return " ".join([*words, *(tag_word(tag) for tag in document.tags), *document.also])


def kind_word(kind: str) -> str:
    """Without underscores, at which SQLite would make two words of it."""
    return f"K{kind.replace('_', '').upper()}"


def tag_word(name: str) -> str:
    return named_word("T", name.casefold())


def named_word(letter: str, name: str, length: int = 8) -> str:
    """A name as a word of letters and digits. 40 bits: two of a project's never share one by chance."""
    digest = base64.b32encode(hashlib.blake2s(name.encode(), digest_size=5).digest()).decode()
    return f"{letter}{digest[:length]}"


def layer_word(name: str) -> str:
    """By which an earlier state is narrowed to the layer that it was in."""
    return named_word("N", name.casefold())


def date_words(at: datetime) -> list[str]:
    """By which things are found that changed on a day."""
    return [str(at.year), *analyse(MONTHS[at.month - 1]), str(at.day)]
