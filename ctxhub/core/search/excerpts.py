"""Where a text holds what was asked for, and the best of it within a budget of tokens."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ctxhub.core.search.analyser import Piece, pieces, runs
from ctxhub.core.text.graphemes import Span, characters, sentences, widened
from ctxhub.core.text.token_count import count_tokens

# A word with less than this on both sides says nothing.
LEAST_AROUND = 15
# What a passage costs beside its characters, when it is weighed against others.
PASSAGE_CHARACTERS = 50
# The budget is shared by so many, where as many words are found.
MOST_PASSAGES = 3
CHARACTERS_PER_TOKEN = 6
WELL_USED = 0.75
MAX_REFUSALS = 4
MOST_ALIKE = 8
# With these a paragraph has ended anyway.
ENDS = ".!?:;,…·\u3002\uff01\uff1f\uff1b\uff1a\uff0c\u3001"

_PARAGRAPH_END = re.compile(r"\n\s*\n")


@dataclass(frozen=True)
class Wanted:
    """What is asked for, and its worth: the analyser's words, and the beginnings of such words."""

    words: Mapping[str, float]
    prefixes: Mapping[str, float] = field(default_factory=dict)

    def found_as(self, word: str) -> Iterator[tuple[str, float]]:
        """All that is asked for and answered by this word."""
        if word in self.words:
            yield word, self.words[word]
        for prefix, worth in self.prefixes.items():
            if word.startswith(prefix):
                yield prefix, worth

    @cached_property
    def known(self) -> dict[str, Sequence["Hit"]]:
        """The hits in each run of letters seen so far: the texts of one answer share most of their words."""
        return {}

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """How an English word or a part of one begins if it is wanted: with all of its stem but a letter.

        `possibly` is `possibl`, `happy` is `happi`, `hoping` is `hope`; and `dying` is `die`.
        """
        starts = {word[: max(len(word) - 1, 2)] for word in (*self.words, *self.prefixes)}
        return (*starts, *(f"{start[0]}y" for start in starts if start[1:] == "i"))


class Hit(NamedTuple):
    """A place in the text as it was written. `word` is the wanted word, or prefix, that is there."""

    start: int
    end: int
    word: str
    worth: float


def find_hits(text: str, wanted: Wanted) -> list[Hit]:
    """In the order of the text. An identifier of which a part is wanted is a hit as a whole.

    Pairs of a script without blanks overlap: `merged` makes one stretch of them.
    """
    known = wanted.known
    hits: list[Hit] = []
    for match in runs(text):
        run = match[0]
        if (found := known.get(run)) is None:
            found = known[run] = list(_hits_in_run(run, wanted)) if _may_hold(run, wanted.starts) else ()
        if found:
            at = match.start()
            hits += [Hit(at + hit.start, at + hit.end, hit.word, hit.worth) for hit in found]
    return hits


def merged(hits: Iterable[Hit]) -> list[Span]:
    """The stretches that hits cover: in order, and none touches another."""
    return _joined((hit.start, hit.end) for hit in hits)


def excerpt(text: str, wanted: Wanted, max_tokens: int) -> str:
    """The text if it fits; else the passages that hold the most of what is wanted; else its beginning.

    White space becomes single blanks; "…" stands for what is left out.
    """
    lines = _told_apart(text)
    whole = lines.replace("\n", " ")
    tokens = count_tokens(whole)
    if tokens <= max_tokens:
        return whole
    all_sentences, hits = sentences(lines), find_hits(whole, wanted)
    passages = min(max(len({hit.word for hit in hits}), 2), MOST_PASSAGES)
    size = max(len(whole) * max_tokens // tokens // passages, 2 * LEAST_AROUND)
    draft = _Draft(whole, max_tokens)
    _take_best(draft, _passages(hits, all_sentences, size))
    if not draft.is_well_used:
        _fill(draft, all_sentences)
    return str(draft)


def _told_apart(text: str) -> str:
    """The lines that say something. Where a paragraph ends in the middle of nothing, a dot shows it."""
    paragraphs = [
        "\n".join(filter(None, (" ".join(line.split()) for line in paragraph.splitlines())))
        for paragraph in _PARAGRAPH_END.split(text)
    ]
    *before, last = [paragraph for paragraph in paragraphs if paragraph] or [""]
    return "\n".join([*(one if one[-1] in ENDS else f"{one} ·" for one in before), last])


class _Passage:
    """A sentence with hits, or the part of a long one where they lie close together."""

    def __init__(self, sentence: Span, size: int) -> None:
        self.sentence = sentence
        self.size = size
        self.is_short = _length(sentence) <= size
        self.hits: list[Hit] = []
        self.worths: dict[str, float] = {}

    @property
    def core(self) -> Span:
        return self.hits[0].start, self.hits[-1].end

    @property
    def density(self) -> float:
        return sum(self.worths.values()) / (_length(self.core) + PASSAGE_CHARACTERS)

    def has_room_for(self, hit: Hit) -> bool:
        is_near = self.is_short or hit.end - self.hits[0].start <= self.size
        return hit.start < self.sentence[1] and is_near

    def add(self, hit: Hit) -> None:
        self.hits.append(hit)
        self.worths[hit.word] = hit.worth

    def new_worth(self, covered: set[str]) -> float:
        return sum(worth for word, worth in self.worths.items() if word not in covered)

    def widths(self, text: str) -> list[Span]:
        """From a few characters around the hits to all of it."""
        reach = self.size if self.is_short else max((self.size - _length(self.core)) // 2, LEAST_AROUND)
        found = widened(text, self.core, self.sentence, reach)
        least = _length(self.core) + 2 * LEAST_AROUND
        return [span for span in found if _length(span) >= least] or found[-1:]


class _Draft:
    """The stretches of a text taken so far, in its order. They never cost more than the budget."""

    def __init__(self, text: str, max_tokens: int) -> None:
        self.text = text
        self.max_tokens = max_tokens
        self.reach = CHARACTERS_PER_TOKEN * max_tokens
        self.taken: list[Span] = []
        self.first = (0, 0)

    def __str__(self) -> str:
        return self._shown(self.taken)

    @property
    def is_well_used(self) -> bool:
        return count_tokens(str(self)) >= WELL_USED * self.max_tokens

    def cost_with(self, span: Span) -> int:
        return count_tokens(self._shown(_joined([*self.taken, span], self.text)))

    def has_room_for(self, span: Span) -> bool:
        return self.cost_with(span) <= self.max_tokens

    def take(self, span: Span) -> bool:
        """Whether there was room for it."""
        if not self.has_room_for(span):
            return False
        self.first = self.first if self.taken else span
        self.taken = _joined([*self.taken, span], self.text)
        return True

    def take_widest(self, spans: Sequence[Span]) -> bool:
        """The last that there is room for, of some that grow."""
        if not spans or self.take(spans[-1]):
            return bool(spans)
        fitting = bisect_right(spans, self.max_tokens, key=self.cost_with)
        return fitting > 0 and self.take(spans[fitting - 1])

    def _shown(self, spans: Sequence[Span]) -> str:
        shown = [self.text[start:end].strip().removesuffix(" ·") for start, end in spans]
        before = [""] if spans and spans[0][0] > 0 else []
        behind = [""] if spans and spans[-1][1] < len(self.text) else []
        return " … ".join([*before, *shown, *behind]).strip()


def _hits_in_run(run: str, wanted: Wanted) -> Iterator[Hit]:
    for piece in pieces(run):
        for word, (start, end) in _places(piece):
            for found, worth in wanted.found_as(word):
                yield Hit(start, end, found, worth)


def _may_hold(run: str, starts: tuple[str, ...]) -> bool:
    """To find a stem takes long the first time, and most words cannot be a wanted one."""
    if not (run.isascii() and run.isalnum()):
        return True
    lower = run.lower()
    is_compound = not (run.isalpha() and run[1:].islower())
    return lower.startswith(starts) or (is_compound and any(start in lower for start in starts))


def _places(piece: Piece) -> Iterator[tuple[str, Span]]:
    yield from zip(piece.words, piece.spans, strict=True)
    yield from ((part, piece.spans[0]) for part in dict.fromkeys(piece.parts) if part not in piece.words)


def _passages(hits: Iterable[Hit], all_sentences: Sequence[Span], size: int) -> list[_Passage]:
    found: list[_Passage] = []
    for hit in hits:
        if not found or not found[-1].has_room_for(hit):
            sentence = all_sentences[bisect_right(all_sentences, hit.start, key=_start) - 1]
            found.append(_Passage(sentence, size))
        found[-1].add(hit)
    return found


def _take_best(draft: _Draft, passages: Iterable[_Passage]) -> None:
    """First what holds the most words not shown yet, then what holds most in few characters."""
    left = _some_of_each(sorted(passages, key=lambda passage: -passage.density))
    covered: set[str] = set()
    refusals = 0
    while left and refusals < MAX_REFUSALS:
        best = max(left, key=lambda passage: passage.new_worth(covered))
        left.remove(best)
        if (best.is_short and draft.take(best.sentence)) or draft.take_widest(best.widths(draft.text)):
            covered |= best.worths.keys()
        else:
            refusals += 1
            if not draft.taken:
                _take_one_hit(draft, best)


def _some_of_each(passages: Iterable[_Passage]) -> list[_Passage]:
    """Of passages with the same words the first few: a text may have thousands."""
    counts: Counter[frozenset[str]] = Counter()
    found = []
    for passage in passages:
        words = frozenset(passage.worths)
        counts[words] += 1
        if counts[words] <= MOST_ALIKE:
            found.append(passage)
    return found


def _take_one_hit(draft: _Draft, passage: _Passage) -> None:
    """Where its hits have no room together: the best of them, or else what there is room for of it."""
    start, end, *_ = max(passage.hits, key=lambda hit: hit.worth)
    if not draft.take_widest(widened(draft.text, (start, end), passage.sentence, passage.size)):
        draft.take_widest(characters(draft.text, start, draft.reach))


def _fill(draft: _Draft, all_sentences: Sequence[Span]) -> None:
    """What is left goes to what is around the first passage: whole sentences, then words."""
    first, here, last = (
        bisect_right(all_sentences, draft.first[0] + by, key=_start) for by in (-draft.reach, 0, draft.reach)
    )
    start, end = all_sentences[here - 1]
    if draft.take((start, end)):
        draft.take_widest([(start, behind) for _, behind in all_sentences[here:last]])
        draft.take_widest([(before, end) for before, _ in reversed(all_sentences[first : here - 1])])
    if not draft.is_well_used:
        draft.take_widest(widened(draft.text, draft.first, (0, len(draft.text)), draft.reach))
    if not draft.taken:
        draft.take_widest(characters(draft.text, draft.first[0], draft.reach))


def _joined(spans: Iterable[Span], text: str = "") -> list[Span]:
    """Without overlaps; those with no more than a blank of the text between them are one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and (start <= found[-1][1] or text[found[-1][1] : start].isspace()):
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _start(span: Span) -> int:
    return span[0]


def _length(span: Span) -> int:
    return span[1] - span[0]
