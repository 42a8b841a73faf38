"""Packs the rows of a briefing into a budget of tokens.

First what must be read (critical constraints, urgent messages, constraints of a path that was asked for),
then each section up to its share, which passes on what it leaves over, then the rows with the highest score
per token. Room that is left then makes the texts longer.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import count, islice

from ctxhub.core.kit.answers import size
from ctxhub.core.kit.frozen import frozen
from sessions.briefs.rows import CUT, ROW_TOKENS, SHARES, Candidate, Packed

# Before an edit, in the order of importance: who else is there, and what must hold.
CHECK_SHARES = {"leases": 20, "changes": 10, "constraints": 40, "decisions": 30}
ENVELOPE = 60
# What must be read takes at most this share of the budget, or so many tokens where that is more. The rest of
# it competes with other rows by a lower score.
MUSTS = 2 * SHARES["constraints"]
FEW_MUSTS = 200
LATE_MUST = 0.3
# Its text is cut to this where it does not fit as a whole.
MUST_TOKENS = 12
# With a task, rows with a lower score get no share: they may fill what is left over.
GOOD = 0.7
# The most urgent rows of these sections get the rest of the share, whatever their score, in one line each.
KEPT = ("constraints",)
LINE_TOKENS = 24
# The most that a section gets while rows of others wait, in percent: long notes are many.
AT_MOST = {"memories": 20}
# How many rows of each section may fill what the shares leave over; more where there is room for more.
WAITING, TOKENS_PER_WAITING = 20, 40
# How many rows that do not fit are tried before a section ends; so many compete for what is left over.
REFUSALS = 3
# The lengths of texts in turn, where no row waits for the room; then the whole text.
LENGTHS = (ROW_TOKENS, 240)
# Less room makes no text longer.
LEAST_ROOM = 16


@frozen
class Form:
    """What an answer costs in tokens: all of it with some rows, as sent; a row; the head of a section.

    `least`: what a row costs without its text, which takes most of the time.
    """

    measure: Callable[[Packed], int]
    row: Callable[[Candidate], int]
    least: Callable[[Candidate], int]
    head: int


def json_form(
    measure: Callable[[Packed], int], row: Callable[[Candidate, str], list[str]] = Candidate.row_with
) -> Form:
    """`row` makes the row of a candidate with a text."""
    return Form(
        measure, lambda one: size(row(one, one.text)) + 1, lambda one: size(row(one, "")) + 1, head=20
    )


def pack(
    sections: Mapping[str, Sequence[Candidate]],
    budget: int,
    form: Form,
    *,
    shares: Mapping[str, int] = SHARES,
    good: float = 0.0,
    first: Candidate | None = None,
) -> Packed:
    """The rows for an answer of at most `budget` tokens; those of a section stay in their order.

    `sections`: the candidates of each section, best first; `shares`: see SHARES; `good`: the score from which
    a row gets a share; `first`: the one that is taken before all others, and fits alone.
    """
    packer = _Packer(sections, budget, form, shares)
    packed = Packed([], {name: len(rows) for name, rows in sections.items()}, tuple(shares))
    if first:
        packer.take_at_once(first)
    packer.take_musts()
    if not packer.taken:
        packer.take_first_must(lambda one: form.measure(replace(packed, chosen=[one])) <= budget)
    packer.take_shares(good)
    packer.fill()
    packed.chosen = packer.taken
    _cut(packed, budget, form)
    _top_up(packed, packer, budget, form)
    _lengthen(packed, packer, budget, form)
    position = {one.place: n for rows in sections.values() for n, one in enumerate(rows)}
    packed.chosen.sort(key=lambda one: (not one.is_must, position[one.place]))
    return packed


class _Packer:
    def __init__(
        self, sections: Mapping[str, Sequence[Candidate]], budget: int, form: Form, shares: Mapping[str, int]
    ) -> None:
        self.sections, self.form, self.shares = sections, form, shares
        self.room = max(budget - ENVELOPE, 0)
        self.left = self.room
        self.taken: list[Candidate] = []
        self._places: set[int] = set()
        self._spent: dict[str, int] = {}
        # By row and length of its text.
        self._tokens: dict[tuple[int, int], int] = {}
        self._least: dict[int, int] = {}

    def tokens(self, one: Candidate) -> int:
        """The tokens of a row alone."""
        key = one.place, one.length
        if key not in self._tokens:
            self._tokens[key] = self.form.row(one)
        return self._tokens[key]

    def least(self, one: Candidate) -> int:
        """The tokens of a row if they are known, else those without its text."""
        if (tokens := self._tokens.get((one.place, one.length))) is not None:
            return tokens
        if one.place not in self._least:
            self._least[one.place] = self.form.least(one)
        return self._least[one.place]

    def head(self, one: Candidate) -> int:
        return 0 if one.section in self._spent else self.form.head

    def cost(self, one: Candidate) -> int:
        return self.tokens(one) + self.head(one)

    def take(self, one: Candidate) -> None:
        cost = self.cost(one)
        self.left -= cost
        self._spent[one.section] = self._spent.get(one.section, 0) + cost
        self._places.add(one.place)
        self.taken.append(one)

    def take_at_once(self, one: Candidate) -> None:
        """Take a row that fits as the only one, though its cost is estimated as higher."""
        self.take(one)
        self.left = max(self.left, 0)

    def waiting(self) -> Iterator[Candidate]:
        """The best rows of each section that were not taken, those with the highest score per token first.

        Without those that do not fit into what is left by then. A few rows of a section compete at a time,
        and one that fits makes room for the next. The text of a row is written once it may be the best: until
        then, its tokens are taken for fewer. What a section may not have while others wait comes last.
        """
        numbers = count()
        rows = {name: self._late_rows(name) for name in self.shares}
        first = (one for few in rows.values() for one in islice(few, REFUSALS))
        waiting = [self._waiting(one, next(numbers)) for one in first]
        late: list[tuple[float, int, Candidate]] = []
        for is_late in (False, True):
            heapify(waiting)
            while waiting:
                weight, number, one = heappop(waiting)
                if self.least(one) + self.head(one) > self.left:
                    if one.is_must and one.length > MUST_TOKENS:
                        heappush(waiting, self._waiting(one.of_length(MUST_TOKENS), number))
                    continue
                if not is_late and self.least(one) > self._allowed(one.section):
                    late.append((weight, number, one))
                    continue
                if (one.place, one.length) not in self._tokens:
                    self.tokens(one)
                    heappush(waiting, self._waiting(one, number))
                    continue
                yield one
                if following := next(rows[one.section], None):
                    heappush(waiting, self._waiting(following, next(numbers)))
            waiting = late

    def _late_rows(self, name: str) -> Iterator[Candidate]:
        rows = islice(self._left_in(name), max(WAITING, self.left // TOKENS_PER_WAITING))
        return iter(sorted(rows, key=_late_score, reverse=True))

    def _waiting(self, one: Candidate, number: int) -> tuple[float, int, Candidate]:
        return -_late_score(one) / self.least(one), number, one

    def _allowed(self, name: str) -> int:
        """What a section may still get while rows of others wait."""
        return self.room * AT_MOST.get(name, 100) // 100 - self._spent.get(name, 0)

    def musts(self) -> tuple[list[Candidate], list[Candidate]]:
        """What must be read: the first of each section and the first that is named, and all others."""
        firsts, others = list[Candidate](), list[Candidate]()
        for name in self.shares:
            seen = set[bool]()
            for one in self._left_in(name):
                if one.is_must:
                    (others if one.is_named in seen else firsts).append(one)
                    seen.add(one.is_named)
        return firsts, sorted(others, key=lambda one: one.is_named)

    def take_musts(self) -> None:
        """Take what must be read: the first of each section, then the most urgent of all."""
        least = self.left - max(self.room * MUSTS // 100, min(self.left, FEW_MUSTS))
        for rows in self.musts():
            self._take_some(sorted(rows, key=_urgency), self.left - least)

    def take_first_must(self, fits: Callable[[Candidate], bool]) -> None:
        """Take the most urgent row that fits as the only one, if need be with less of its text."""
        for one in sorted(self.musts()[0], key=_urgency):
            for form in _forms(one):
                if fits(form):
                    self.take_at_once(form)
                    return

    def take_shares(self, good: float) -> None:
        over = 0
        for name, share in self.shares.items():
            own = self.room * share // 100
            allowance = min(own + over - self._spent.get(name, 0), self._allowed(name), self.left)
            self._take_some([one for one in self._left_in(name) if _late_score(one) >= good], allowance)
            if name in KEPT:
                self._take_lines(name, own - self._spent.get(name, 0))
            over = max(own + over - self._spent.get(name, 0), 0)

    def _take_lines(self, name: str, allowance: int) -> None:
        """Take the most urgent rows of a section, with a line of each."""
        urgent = sorted((one for one in self._left_in(name) if one.urgency), key=lambda one: -one.urgency)
        self._take_some([one.of_length(LINE_TOKENS) for one in urgent], min(allowance, self.left))

    def _take_some(self, rows: Sequence[Candidate], allowance: int) -> None:
        """Take the first rows that fit; of what must be read at least a line."""
        refused = 0
        for one in rows:
            for form in _forms(one):
                if (cost := self.cost(form)) <= allowance:
                    allowance -= cost
                    self.take(form)
                    break
            else:
                if (refused := refused + 1) == REFUSALS:
                    return

    def fill(self) -> None:
        for one in self.waiting():
            self.take(one)

    def _left_in(self, name: str) -> Iterator[Candidate]:
        return (one for one in self.sections.get(name, ()) if one.place not in self._places)


def _urgency(one: Candidate) -> tuple[bool, float]:
    """Sorts what must be read: what holds everywhere first."""
    return one.is_named, -one.score


def _forms(one: Candidate) -> Iterator[Candidate]:
    """A row, and if it must be read also with less of its text."""
    yield one
    if one.is_must:
        yield one.of_length(MUST_TOKENS)


def _late_score(one: Candidate) -> float:
    """The score of a row after those that must be read were taken."""
    return min(one.score, LATE_MUST) if one.is_must else one.score


def _cut(packed: Packed, budget: int, form: Form) -> None:
    """Drop the rows taken last until the answer fits: costs of single rows are estimates."""
    taken = packed.chosen

    def cost(first: int) -> int:
        packed.chosen = taken[:first]
        return form.measure(packed)

    fitting = bisect_right(range(1, len(taken) + 1), budget, key=cost)
    packed.chosen = taken[:fitting]
    while packed.chosen and form.measure(packed) > budget:
        packed.chosen.pop()


def _top_up(packed: Packed, packer: _Packer, budget: int, form: Form) -> None:
    """Add rows that fit when the whole answer is measured."""
    refused = 0
    packer.left = budget - form.measure(packed)
    for one in packer.waiting():
        packed.chosen.append(one)
        if (tokens := form.measure(packed)) <= budget:
            packer.take(one)
            packer.left = budget - tokens
        else:
            packed.chosen.pop()
            if (refused := refused + 1) == REFUSALS:
                return


def _lengthen(packed: Packed, packer: _Packer, budget: int, form: Form) -> None:
    """Let texts say more with the room that is left: what must be read first, then by score."""
    room = budget - form.measure(packed)
    shorter: list[tuple[int, Candidate]] = []
    best = sorted(range(len(packed.chosen)), key=lambda n: _rank(packed.chosen[n]))
    for length in (*LENGTHS, budget):
        for number in best:
            if room < LEAST_ROOM:
                break
            one = packed.chosen[number]
            longer = one.of_length(min(length, packer.tokens(one) + room))
            if CUT not in one.text or longer.length <= one.length:
                continue
            if 0 <= (more := packer.tokens(longer) - packer.tokens(one)) <= room:
                shorter.append((number, one))
                packed.chosen[number] = longer
                room -= more
    while shorter and form.measure(packed) > budget:
        number, one = shorter.pop()
        packed.chosen[number] = one


def _rank(one: Candidate) -> tuple[bool, float]:
    return not one.is_must, -one.score
