"""Finds the hits of a query in a text, and builds an excerpt within a budget of tokens."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.analyser import Piece, pieces, runs
from ctxhub.core.text.graphemes import Span, characters, sentences, whole_graphemes, widened
from ctxhub.core.text.token_count import count_tokens

# A hit is shown with at least so many characters on each side.
LEAST_AROUND = 15
# The cost of a passage besides its characters, when passages are compared by density.
PASSAGE_CHARACTERS = 50
# The budget is shared by at most so many passages.
MOST_PASSAGES = 3
CHARACTERS_PER_TOKEN = 6
WELL_USED = 0.75
MAX_REFUSALS = 4
MOST_ALIKE = 8
# In these the analyser does not keep all letters or signs: we'll, C++, C#, .NET.
RESPELT = ("'", "+", "#", ".net")
# A paragraph that ends with one of these needs no separator.
ENDS = ".!?:;,…·\u3002\uff01\uff1f\uff1b\uff1a\uff0c\u3001"

_PARAGRAPH_END = re.compile(r"\n\s*\n")


@frozen(slots=False)
class Wanted:
    """The words of a query, as the analyser makes them, and prefixes of words; each with its weight."""

    words: Mapping[str, float]
    prefixes: Mapping[str, float] = field(default_factory=dict)

    def found_as(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield each wanted word or prefix that this word matches, with its weight."""
        if word in self.words:
            yield word, self.words[word]
        for prefix, worth in self.prefixes.items():
            if word.startswith(prefix):
                yield prefix, worth

    @cached_property
    def known(self) -> dict[str, Sequence["Hit"]]:
        """Cache of the hits by run of letters: the texts of one answer share most of their words."""
        return {}

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The beginnings of English words that may match: all letters of a wanted stem but the last.

        `possibly` has the stem `possibl`, `happy` `happi`, `hoping` `hope`; `dying` has `die`: i may be y.
        """
        starts = {word[: max(len(word) - 1, 2)] for word in (*self.words, *self.prefixes)}
        return (*starts, *(f"{start[0]}y" for start in starts if start[1:] == "i"))


class Hit(NamedTuple):
    """A match in the original text, by its offsets. `word` is the wanted word or prefix."""

    start: int
    end: int
    word: str
    worth: float


def find_hits(text: str, wanted: Wanted) -> list[Hit]:
    """Return the hits in the order of the text. If a part of an identifier matches, the hit is all of it.

    Pairs of a script without blanks overlap: `merged` joins them.
    """
    if not (wanted.words or wanted.prefixes):
        return []
    known = wanted.known
    hits: list[Hit] = []
    for match in _runs_that_may_hold(text, wanted):
        run = match[0]
        if (found := known.get(run)) is None:
            found = known[run] = list(_hits_in_run(run, wanted)) if _may_hold(run, wanted.starts) else ()
        if found:
            start = match.start()
            hits += [Hit(start + hit.start, start + hit.end, hit.word, hit.worth) for hit in found]
    return hits if text.isascii() else [_whole(text, hit) for hit in hits]


def _whole(text: str, hit: Hit) -> Hit:
    """A match in a part of a grapheme, such as one person of an emoji of a family, is all of it."""
    if _stands_alone(text[hit.start]) and _stands_alone(text[hit.end : hit.end + 1]):
        return hit
    start, end = whole_graphemes(text, (hit.start, hit.end))
    return hit._replace(start=start, end=end)


def _stands_alone(char: str) -> bool:
    """Whether a character, or "", surely continues no grapheme: of Latin or Chinese."""
    return char < "\u0300" or "\u4e00" <= char <= "\u9fff"


def merged(hits: Iterable[Hit]) -> list[Span]:
    """Return the spans that hits cover, in order, with overlapping and adjacent ones joined."""
    return _joined((hit.start, hit.end) for hit in hits)


def excerpt(text: str, wanted: Wanted, max_tokens: int) -> str:
    """As `counted_excerpt`, without its tokens."""
    return counted_excerpt(text, wanted, max_tokens)[0]


def counted_excerpt(text: str, wanted: Wanted, max_tokens: int) -> tuple[str, int]:
    """Return the text if it fits, else the passages with the best hits, else its beginning; and its tokens.

    White space becomes single blanks; "…" marks omissions.
    """
    lines = _normalised_lines(text)
    flat_text = lines.replace("\n", " ")
    tokens = count_tokens(flat_text)
    if tokens <= max_tokens:
        return flat_text, tokens
    all_sentences, hits = sentences(lines), find_hits(flat_text, wanted)
    passages = min(max(len({hit.word for hit in hits}), 2), MOST_PASSAGES)
    size = max(len(flat_text) * max_tokens // tokens // passages, 2 * LEAST_AROUND)
    draft = _Draft(flat_text, max_tokens)
    _take_best(draft, _passages(hits, all_sentences, size))
    if not draft.is_well_used:
        _fill(draft, all_sentences)
    return str(draft), draft.tokens


def _normalised_lines(text: str) -> str:
    """Return the lines that are not blank. A paragraph without final punctuation gets " ·" as a separator."""
    paragraphs = [
        "\n".join(filter(None, (" ".join(line.split()) for line in paragraph.splitlines())))
        for paragraph in _PARAGRAPH_END.split(text)
    ]
    *before, last = [paragraph for paragraph in paragraphs if paragraph] or [""]
    return "\n".join([*(line if line[-1] in ENDS else f"{line} ·" for line in before), last])


class _Passage:
    """A sentence with hits, or a part of a long sentence with hits close together."""

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
        """Return growing spans around the hits, up to the whole passage."""
        reach = self.size if self.is_short else max((self.size - _length(self.core)) // 2, LEAST_AROUND)
        found = widened(text, self.core, self.sentence, reach)
        least = _length(self.core) + 2 * LEAST_AROUND
        return found[bisect_left(found, least, key=_length) :] or found[-1:]


class _Draft:
    """The spans of a text taken so far, in order. Together they never exceed the token budget."""

    def __init__(self, text: str, max_tokens: int) -> None:
        self.text = text
        self.max_tokens = max_tokens
        self.reach = CHARACTERS_PER_TOKEN * max_tokens
        self.taken: list[Span] = []
        self.first = (0, 0)
        self.tokens = 0
        self._costs: dict[Span, int] = {}

    def __str__(self) -> str:
        return self._shown(self.taken)

    @property
    def is_well_used(self) -> bool:
        return self.tokens >= WELL_USED * self.max_tokens

    def cost_with(self, span: Span) -> int:
        if span not in self._costs:
            self._costs[span] = count_tokens(self._shown(self._with(span)))
        return self._costs[span]

    def has_room_for(self, span: Span) -> bool:
        return self.cost_with(span) <= self.max_tokens

    def take(self, span: Span) -> bool:
        """Add a span if it fits; returns whether it did."""
        if not self.has_room_for(span):
            return False
        self.first = self.first if self.taken else span
        self.tokens, self._costs = self.cost_with(span), {}
        self.taken = self._with(span)
        return True

    def take_widest(self, spans: Sequence[Span]) -> bool:
        """Add the widest of growing spans that fits; returns whether one did."""
        if not spans or self.take(spans[-1]):
            return bool(spans)
        fitting = bisect_right(spans, self.max_tokens, key=self.cost_with)
        return fitting > 0 and self.take(spans[fitting - 1])

    def _with(self, span: Span) -> list[Span]:
        return _joined([*self.taken, span], self.text) if self.taken else [span]

    def _shown(self, spans: Sequence[Span]) -> str:
        shown = [self.text[start:end].strip().removesuffix(" ·") for start, end in spans]
        before = [""] if spans and spans[0][0] > 0 else []
        behind = [""] if spans and spans[-1][1] < len(self.text) else []
        return " … ".join([*before, *shown, *behind]).strip()


def _runs_that_may_hold(text: str, wanted: Wanted) -> Iterator[re.Match[str]]:
    """Yield the runs of letters; of plain text only those with the letters that a wanted word begins with."""
    if not (text.isascii() and text.isprintable()):
        yield from runs(text)
        return
    end = 0
    for place in sorted(_places(text.lower(), (*wanted.starts, *RESPELT))):
        if place >= end:
            start, blank = text.rfind(" ", 0, place) + 1, text.find(" ", place)
            end = blank if blank >= 0 else len(text)
            yield from runs(text, start, end)


def _places(text: str, parts: Iterable[str]) -> Iterator[int]:
    for part in parts:
        place = text.find(part)
        while place >= 0:
            yield place
            place = text.find(part, place + 1)


def _hits_in_run(run: str, wanted: Wanted) -> Iterator[Hit]:
    for piece in pieces(run):
        for word, (start, end) in _words_with_spans(piece):
            for found, worth in wanted.found_as(word):
                yield Hit(start, end, found, worth)


def _may_hold(run: str, starts: tuple[str, ...]) -> bool:
    """Whether a run may contain a wanted word. Checked first because stemming is slow on a cache miss."""
    if not (run.isascii() and run.isalnum()):
        return True
    lower = run.lower()
    is_compound = not (run.isalpha() and run[1:].islower())
    return lower.startswith(starts) or (is_compound and any(start in lower for start in starts))


def _words_with_spans(piece: Piece) -> Iterator[tuple[str, Span]]:
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
    """Add passages to the draft: first by the weight of words not shown yet, then by density."""
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
    """Keep at most MOST_ALIKE passages with the same words: a text may have thousands."""
    counts: Counter[frozenset[str]] = Counter()
    found = []
    for passage in passages:
        words = frozenset(passage.worths)
        counts[words] += 1
        if counts[words] <= MOST_ALIKE:
            found.append(passage)
    return found


def _take_one_hit(draft: _Draft, passage: _Passage) -> None:
    """Add the best hit of a passage whose hits do not all fit, or as many of its characters as fit."""
    start, end, *_ = max(passage.hits, key=lambda hit: hit.worth)
    if not draft.take_widest(widened(draft.text, (start, end), passage.sentence, passage.size)):
        draft.take_widest(characters(draft.text, start, draft.reach))


def _fill(draft: _Draft, all_sentences: Sequence[Span]) -> None:
    """Spend the rest of the budget on text around the first passage: whole sentences, then words."""
    first, current, last = (
        bisect_right(all_sentences, draft.first[0] + offset, key=_start)
        for offset in (-draft.reach, 0, draft.reach)
    )
    start, end = all_sentences[current - 1]
    if draft.take((start, end)):
        draft.take_widest([(start, sentence_end) for _, sentence_end in all_sentences[current:last]])
        draft.take_widest(
            [(sentence_start, end) for sentence_start, _ in reversed(all_sentences[first : current - 1])]
        )
    if not draft.is_well_used:
        draft.take_widest(widened(draft.text, draft.first, (0, len(draft.text)), draft.reach))
    if not draft.taken:
        draft.take_widest(characters(draft.text, draft.first[0], draft.reach))


def _joined(spans: Iterable[Span], text: str = "") -> list[Span]:
    """Sort and merge spans that overlap, or have only white space of the text between them."""
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
