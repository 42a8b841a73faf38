"""Documents: what each noun gives to the index, and the passages and scope words made of it."""

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence, Set
from datetime import datetime
from functools import lru_cache
from heapq import nsmallest
from itertools import islice

from ctxhub.core.kit.batches import compute_first
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import SearchText
from ctxhub.core.search.analyser import CACHED_TEXT, analyse, surface_words
from ctxhub.core.search.queries import MONTHS

# A longer text is split into passages. They overlap, so that every phrase is complete in one of them.
PASSAGE_CHARACTERS = 4_000
OVERLAP = 200
MAX_SURFACE_WORDS = 1_000
# Of texts that are written together: 0.1 s.
LONG_CHARACTERS = 50_000
# The scope word of documents with a mark, which are not in force.
OVER = "Z"
# The scope word of earlier states, whose object has other content now.
EARLIER = "W"
# Only the first characters of an earlier state are indexed.
EARLIER_CHARACTERS = 16_000
# The id of a passage is its entry's id times PARTS plus its number, so no join is needed to find the entry.
PARTS = SearchText.PARTS


@frozen
class Document:
    """One searchable object. `title` and `body` are what a person reads, and what excerpts are cut from.

    `unshown` is indexed but never shown: names of scopes, globs. `at`: when it last changed. `layer_id`,
    `agent_id` and `context_id` are for filters. `mark` follows the title in answers and says why the object
    is not in force ("deprecated"); it then ranks lower. `also`: further scope words, for filters of its noun,
    or how they are made, since only the index asks for them. `owner_id`: for an earlier state the row of its
    object, and `ref` is that object's; `now`: what holds instead, a few words. `version`: that of its
    content, not indexed, for the record of what agents were given. `readable`: start and end in the body of
    the text that `get` reads by lines, if there is one.
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
    also: "Sequence[str] | ScopeWords" = ()
    unshown: Sequence[str] = ()
    owner_id: int | None = None
    version: str = ""
    readable: tuple[int, int] = (0, 0)
    now: str = ""

    @property
    def text(self) -> str:
        """The text to index besides the title and tags."""
        return "\n\n".join(part for part in (self.body, *self.unshown) if part)

    @property
    def shown_title(self) -> str:
        return f"{self.title} ({self.shown_mark})" if self.mark else self.title

    @property
    def shown_mark(self) -> str:
        return f"{self.mark}, now {self.now}" if self.now else self.mark


@frozen
class ScopeWords:
    """The scope words that `make` makes of a text."""

    make: Callable[[str], Sequence[str]]
    text: str

    def made(self) -> Sequence[str]:
        return self.make(self.text)


@frozen
class Passage:
    """An indexed part of a document. `start`: its offset in the body, in characters; `size`: its words."""

    part: int
    start: int
    words: str
    size: int


def text_id(entry_id: int, part: int) -> int:
    return entry_id * PARTS + part


@frozen
class Analysis:
    """What the index stores of a text: start, words and their number of each passage; words for spelling."""

    passages: Sequence[tuple[int, str, int]]
    surface: Set[str]


def analyse_texts(
    texts: Sequence[str], then: Callable[[Sequence[Analysis]], object] = lambda _: None
) -> list[Analysis]:
    """Analyse the texts of documents: outside of the write lock if they are long, as a MiB takes 2 s.

    `then` is called with the analyses of long texts, when they are made.
    """
    if sum(map(len, texts)) < LONG_CHARACTERS:
        return [analyse_text(text) for text in texts]

    def compute() -> list[Analysis]:
        analyses = [analyse_text(text) for text in texts]
        then(analyses)
        return analyses

    return compute_first(tuple(texts), compute)


def analyse_text(text: str) -> Analysis:
    return _cached_analysis(text) if len(text) <= CACHED_TEXT else _analyse(text)


@lru_cache(64)
def _cached_analysis(text: str) -> Analysis:
    """A text is analysed before the lock, and indexed under it."""
    return _analyse(text)


def _analyse(text: str) -> Analysis:
    found = []
    for begin, end in islice(spans(text), PARTS):
        words = analyse(text[begin:end])
        found.append((begin, " ".join(words), len(words)))
    return Analysis(found, first_words(surface_words(text)))


def prepare_document(document: Document) -> None:
    """Analyse the texts of a document that is soon indexed: the latest results are remembered."""
    if isinstance(document.also, ScopeWords):
        document.also.made()
    if len(document.text) < LONG_CHARACTERS:
        known_words(document, analyse_text(document.text))


def passages(document: Document, analysis: Analysis | None = None) -> list[Passage]:
    """Split a document into passages. Title, tags and date come first: they describe it best."""
    return last_passages(document, 0, 0, analysis)


def last_passages(
    document: Document, part: int, start: int, analysis: Analysis | None = None
) -> list[Passage]:
    """Return the passages from number `part` on, for a document whose text begins at offset `start`."""
    analysis = analysis or analyse_text(document.text)
    head = analyse(document.title)
    also = [*analyse("\n".join(document.tags)), *date_words(document.at)]
    found = []
    for number, (begin, words, size) in enumerate(analysis.passages[: PARTS - part], start=part):
        before = head + ([] if number else also)
        joined = " ".join([*before, words] if words else before)
        found.append(Passage(number, start + begin, joined, len(before) + size))
    return found


def spans(body: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each passage of a text; a passage ends at white space if there is any nearby."""
    start = 0
    while len(body) - start > PASSAGE_CHARACTERS:
        end = start + PASSAGE_CHARACTERS
        blank = max(body.rfind("\n", end - OVERLAP, end), body.rfind(" ", end - OVERLAP, end))
        end = blank if blank > 0 else end
        yield start, end
        start = end - OVERLAP
    yield start, len(body)


def earlier_text(was: str, now: str) -> str:
    """Return the lines of an earlier text that the next one lacks, at most EARLIER_CHARACTERS; else ""."""
    kept = set(now.splitlines())
    return "\n".join(line for line in was.splitlines() if line not in kept)[:EARLIER_CHARACTERS]


def known_words(document: Document, analysis: Analysis | None = None) -> Set[str]:
    """Return the words of the document for spelling correction, at most MAX_SURFACE_WORDS."""
    analysis = analysis or analyse_text(document.text)
    own = surface_words(document.title) | surface_words("\n".join(document.tags))
    return first_words(own | analysis.surface)


def first_words(words: Set[str]) -> Set[str]:
    return words if len(words) <= MAX_SURFACE_WORDS else set(nsmallest(MAX_SURFACE_WORDS, words))


def scope_words(project_id: int, kind: str, document: Document) -> str:
    """Return the words that filters match. They are in upper case, so no word of a text equals one."""
    ids = (("A", document.agent_id), ("L", document.layer_id), ("C", document.context_id))
    words = [f"P{project_id}", kind_word(kind), *(f"{letter}{pk}" for letter, pk in ids if pk is not None)]
    words += [OVER] if document.mark else []
    also = document.also.made() if isinstance(document.also, ScopeWords) else document.also
    return " ".join([*words, *(tag_word(tag) for tag in document.tags), *also])


def kind_word(kind: str) -> str:
    """The scope word of a kind. Has no underscores, at which SQLite would split it."""
    return f"K{kind.replace('_', '').upper()}"


def tag_word(name: str) -> str:
    return named_word("T", name.casefold())


@lru_cache(10_000)
def named_word(letter: str, name: str, length: int = 8) -> str:
    """Hash a name into a word of letters and digits. 40 bits: names of one project do not collide."""
    digest = base64.b32encode(hashlib.blake2s(name.encode(), digest_size=5).digest()).decode()
    return f"{letter}{digest[:length]}"


def layer_word(name: str) -> str:
    """The scope word for the layer of an earlier state."""
    return named_word("N", name.casefold())


def date_words(at: datetime) -> list[str]:
    """Return year, month and day as words, so that objects are found by the date of their last change."""
    return [str(at.year), *analyse(MONTHS[at.month - 1]), str(at.day)]
