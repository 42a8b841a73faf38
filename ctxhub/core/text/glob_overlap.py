"""Whether two globs have a path in common: the product of two automata, of which one is simulated in bits.

The states of one glob are the bits of an integer. Each token of the other leads from a set of states to the
next in a few operations on whole integers, so the time is bounded by the product of the two lengths
(Baeza-Yates and Gonnet, "A new approach to text searching", 1992; for gaps Navarro and Raffinot, "Flexible
pattern matching in strings", 2002, chapter 4).
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ctxhub.core.kit.read_limit import checkpoint
from ctxhub.core.text.glob_parts import Gap, Span, is_plain, readings, split_glob

Spans = tuple[Span, ...]
"""The characters that a token matches."""
Segment = Sequence[Sequence[Spans | None]] | None
"""The readings of a segment; None for a gap, any number of any segments."""

MOST_KNOWN = 1_000


def have_common_path(first: str, second: str) -> bool:
    """Whether some path matches both globs."""
    checkpoint()
    one, other = split_glob(first), split_glob(second)
    if _differ(one, other):
        return False
    if _is_below(one, other) or _is_below(other, one):
        return True
    return _automaton(first).meets(_parsed(second))


def _is_below(segments: Sequence[str | None], folder: Sequence[str | None]) -> bool:
    """Whether a glob is in a folder: `src/api/*.py` in `src/api/**`. Every glob matches some path."""
    if folder[-1:] != (Gap,):
        return False
    return segments[: len(folder) - 1] == folder[:-1] and all(part and is_plain(part) for part in folder[:-1])


def _differ(first: Sequence[str | None], second: Sequence[str | None]) -> bool:
    """Whether two plain segments before a gap differ, as they do in most of many globs: soon told."""
    for one, other in zip(first, second, strict=False):
        if one is None or other is None:
            return False
        if one != other and is_plain(one) and is_plain(other):
            return True
    return False


@lru_cache(maxsize=512)
def _parsed(pattern: str) -> Sequence[Segment]:
    return [
        None
        if segment is Gap
        else [
            [tuple(token.possible()) if token else None for token in tokens] for tokens in readings(segment)
        ]
        for segment in split_glob(pattern)
    ]


@lru_cache(maxsize=64)
def _automaton(pattern: str) -> "_Automaton":
    return _Automaton(_parsed(pattern))


class _Automaton:
    """The states of a glob. Each segment has a field of bits, from low to high:

    - its boundary, reached when all segments before it have matched,
    - for each reading its tokens, each reached when those before it have matched, its end, and a bit that
      stays 0, so that sums and differences never pass from one reading to the next.

    A gap among segments has a boundary only. The last boundary of all means that the glob has matched.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._size = 0
        self._boundaries = self._segment_gaps = self._with_readings = 0
        self._gaps = self._stops = self._ends = 0
        # Of segments with two readings: the ways past the first one, and where they lead.
        self._two_readings = self._past_first = self._second_starts = 0
        self._first_ends = self._past_second = 0
        spans: list[tuple[Span, int]] = []
        for segment in segments:
            self._boundaries |= 1 << self._size
            if segment is None:
                self._segment_gaps |= self._next_bit()
            else:
                self._add_segment(segment, spans)
        self._matched = self._next_bit()
        self._boundaries |= self._matched
        self._states = _StatesOfCharacters(spans)

    def _add_segment(self, segment: Sequence[Sequence[Spans | None]], spans: list[tuple[Span, int]]) -> None:
        boundary = self._next_bit()
        self._with_readings |= boundary
        ends = []
        for tokens in segment:
            start = 1 << self._size
            for token in tokens:
                state = self._next_bit()
                if token is None:
                    self._gaps |= state
                else:
                    spans += [(span, state) for span in token]
            ends.append(self._next_bit())
            self._stops |= self._next_bit()
        self._ends |= ends[-1]
        if len(segment) > 1:
            self._two_readings |= boundary
            self._past_first |= start - boundary
            self._second_starts |= start
            self._first_ends |= ends[0]
            self._past_second |= ends[1] - ends[0]

    def _next_bit(self) -> int:
        self._size += 1
        return 1 << (self._size - 1)

    def meets(self, segments: Sequence[Segment]) -> bool:
        """Whether some path matches this glob and the other's segments."""
        reached = self._past_gaps(1)
        for segment in segments:
            if segment is None:
                reached = self._boundaries & -(reached & -reached)
            else:
                entered = self._enter(reached)
                passed = reached & self._segment_gaps
                for tokens in segment:
                    passed |= self._leave(self._walk(entered, tokens))
                reached = self._past_gaps(passed)
            if not reached:
                return False
        return bool(reached & self._matched)

    def _past_gaps(self, boundaries: int) -> int:
        return boundaries | (boundaries & self._segment_gaps) << 1

    def _enter(self, boundaries: int) -> int:
        """The first states of all readings. The carry of a sum runs past the first reading."""
        seconds = ((boundaries & self._two_readings) + self._past_first) & self._second_starts
        return (boundaries & self._with_readings) << 1 | seconds

    def _leave(self, states: int) -> int:
        """The boundaries behind those readings of which the end is reached."""
        over_second = (states & self._first_ends) + self._past_second
        return ((states | over_second) & self._ends) << 2

    def _walk(self, states: int, tokens: Iterable[Spans | None]) -> int:
        """The states after one segment of the other glob."""
        gaps, stops, matching = self._gaps, self._stops, self._states.matching
        states |= (states & gaps) << 1
        for token in tokens:
            if token is None:
                # All states from the lowest one on, in each reading.
                states = (stops - states | states) & ~stops
            else:
                states = (states & matching(token)) << 1 | states & gaps
                states |= (states & gaps) << 1
            if not states:
                break
        return states


class _StatesOfCharacters:
    """Finds the states that match some character of a span."""

    def __init__(self, spans: Iterable[tuple[Span, int]]) -> None:
        changes = {0: 0}
        for (low, high), state in spans:
            for edge in (low, high + 1):
                changes[edge] = changes.get(edge, 0) ^ state
        self._starts = sorted(changes)
        states, found = 0, []
        for start in self._starts:
            states ^= changes[start]
            found.append(states)
        # By n and place: the states of 2**n intervals from the place on.
        self._levels = [found]
        self._known: dict[Spans, int] = {}

    def matching(self, spans: Spans) -> int:
        if (states := self._known.get(spans)) is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            states = self._known[spans] = self._find(spans)
        return states

    def _find(self, spans: Spans) -> int:
        states = 0
        for low, high in spans:
            first, last = bisect_right(self._starts, low) - 1, bisect_right(self._starts, high) - 1
            # Two rows of intervals that overlap each other: as many as a power of two.
            exponent = (last - first + 1).bit_length() - 1
            level = self._level(exponent)
            states |= level[first] | level[last + 1 - (1 << exponent)]
        return states

    def _level(self, wanted: int) -> Sequence[int]:
        levels = self._levels
        if wanted >= len(levels):
            levels = levels.copy()
            while wanted >= len(levels):
                below, half = levels[-1], 1 << len(levels) - 1
                levels.append([below[n] | below[n + half] for n in range(len(below) - half)])
            self._levels = levels
        return levels[wanted]
