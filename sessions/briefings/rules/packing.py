"""Packs the rows of a briefing into a budget of tokens.

First what must be read (critical constraints, urgent messages), then each section up to its share, which
passes on what it leaves over, then the rows with the highest score per token.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import count, islice

from ctxhub.core.kit.answers import size
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.links import ObjectKey

# The share of each section, in percent of the budget without the envelope, in the order of the answer.
SHARES = {
    "session": 15,
    "constraints": 20,
    "decisions": 25,
    "messages": 10,
    "leases": 5,
    "changes": 5,
    "memories": 12,
    "snapshots": 8,
}
# Before an edit, in the order of importance: who else is there, and what must hold.
CHECK_SHARES = {"leases": 20, "changes": 10, "constraints": 40, "decisions": 30}
ENVELOPE = 60
# What must be read takes at most this share of the budget, or so many tokens where that is more. The rest of
# it competes with other rows by a lower score.
MUSTS = 25
FEW_MUSTS = 200
LATE_MUST = 0.3
# With a task, rows with a lower score get no share: they may fill what is left over.
GOOD = 0.7
# How many rows of each section may fill what the shares leave over.
WAITING = 20
# How many rows that do not fit are tried before a section ends; so many compete for what is left over.
REFUSALS = 3


@frozen(slots=False)
class Candidate:
    """A row that may be in a briefing.

    `score`: 0 to 1, comparable between sections; `is_must`: it must be read, and is packed first. `write`
    makes the text: it is called only for rows that may fit. `key`: the object, if it may be stale.
    """

    section: str
    ref: str
    write: Callable[[], str]
    by: str
    at: str
    score: float
    is_must: bool = False
    why: str = ""
    version: str = ""
    key: ObjectKey | None = None

    @cached_property
    def text(self) -> str:
        return self.write()

    @property
    def row(self) -> list[str]:
        return self.row_with(self.text)

    def row_with(self, text: str) -> list[str]:
        return [self.ref, text, self.by, self.at, *([self.why] if self.why else [])]


@dataclass(slots=True)
class Packed:
    """The rows chosen, in the order in which they were; and how many were considered, by section."""

    chosen: list[Candidate] = field(default_factory=list)
    considered: Mapping[str, int] = field(default_factory=dict)
    names: Sequence[str] = tuple(SHARES)

    def sections(self) -> dict[str, list[Candidate]]:
        """The chosen rows by section, in the order of the answer."""
        rows: dict[str, list[Candidate]] = {}
        for name in self.names:
            if found := [one for one in self.chosen if one.section == name]:
                rows[name] = found
        return rows

    def omitted(self) -> dict[str, int]:
        chosen = self.sections()
        left = {name: total - len(chosen.get(name, ())) for name, total in self.considered.items()}
        return {name: left[name] for name in self.names if left.get(name)}


@frozen
class Form:
    """What an answer costs in tokens: all of it with some rows, as sent; a row; the head of a section.

    `least`: what a row costs without its text, which takes most of the time.
    """

    measure: Callable[[Packed], int]
    row: Callable[[Candidate], int]
    least: Callable[[Candidate], int]
    head: int


def json_form(measure: Callable[[Packed], int]) -> Form:
    return Form(measure, lambda one: size(one.row) + 1, lambda one: size(one.row_with("")) + 1, head=20)


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
    position = {id(one): n for rows in sections.values() for n, one in enumerate(rows)}
    packed.chosen.sort(key=lambda one: (not one.is_must, position[id(one)]))
    return packed


class _Packer:
    def __init__(
        self, sections: Mapping[str, Sequence[Candidate]], budget: int, form: Form, shares: Mapping[str, int]
    ) -> None:
        self.sections, self.form, self.shares = sections, form, shares
        self.room = max(budget - ENVELOPE, 0)
        self.left = self.room
        self.taken: list[Candidate] = []
        self._ids: set[int] = set()
        self._begun: set[str] = set()
        self._tokens: dict[int, int] = {}
        self._least: dict[int, int] = {}

    def tokens(self, one: Candidate) -> int:
        """The tokens of a row alone."""
        if id(one) not in self._tokens:
            self._tokens[id(one)] = self.form.row(one)
        return self._tokens[id(one)]

    def least(self, one: Candidate) -> int:
        """The tokens of a row if they are known, else those without its text."""
        if (tokens := self._tokens.get(id(one))) is not None:
            return tokens
        if id(one) not in self._least:
            self._least[id(one)] = self.form.least(one)
        return self._least[id(one)]

    def head(self, one: Candidate) -> int:
        return 0 if one.section in self._begun else self.form.head

    def cost(self, one: Candidate) -> int:
        return self.tokens(one) + self.head(one)

    def take(self, one: Candidate) -> None:
        self.left -= self.cost(one)
        self._begun.add(one.section)
        self._ids.add(id(one))
        self.taken.append(one)

    def take_at_once(self, one: Candidate) -> None:
        """Take a row that fits as the only one, though its cost is estimated as higher."""
        self.take(one)
        self.left = max(self.left, 0)

    def waiting(self) -> Iterator[Candidate]:
        """The best rows of each section that were not taken, those with the highest score per token first.

        Without those that do not fit into what is left by then. A few rows of a section compete at a time,
        and one that fits makes room for the next. The text of a row is written once it may be the best: until
        then, its tokens are taken for fewer.
        """
        numbers = count()
        rows = {name: self._late_rows(name) for name in self.shares}
        first = (one for few in rows.values() for one in islice(few, REFUSALS))
        waiting = [self._waiting(one, next(numbers)) for one in first]
        heapify(waiting)
        while waiting:
            _, number, one = heappop(waiting)
            if self.least(one) + self.head(one) > self.left:
                continue
            if id(one) not in self._tokens:
                self.tokens(one)
                heappush(waiting, self._waiting(one, number))
                continue
            yield one
            if following := next(rows[one.section], None):
                heappush(waiting, self._waiting(following, next(numbers)))

    def _late_rows(self, name: str) -> Iterator[Candidate]:
        rows = islice(self._left_in(name), WAITING)
        return iter(sorted(rows, key=_late_score, reverse=True))

    def _waiting(self, one: Candidate, number: int) -> tuple[float, int, Candidate]:
        return -_late_score(one) / self.least(one), number, one

    def musts(self) -> tuple[list[Candidate], list[Candidate]]:
        """What must be read: the first of each section, and all others."""
        musts = [[one for one in self._left_in(name) if one.is_must] for name in self.shares]
        return [rows[0] for rows in musts if rows], [one for rows in musts for one in rows[1:]]

    def take_musts(self) -> None:
        """Take what must be read: the first of each section, then the most urgent of all."""
        least = self.left - max(self.room * MUSTS // 100, min(self.left, FEW_MUSTS))
        for rows in self.musts():
            self._take_some(sorted(rows, key=lambda one: -one.score), self.left - least)

    def take_first_must(self, fits: Callable[[Candidate], bool]) -> None:
        """Take the most urgent row that fits as the only one."""
        firsts, _ = self.musts()
        for one in sorted(firsts, key=lambda one: -one.score):
            if fits(one):
                self.take_at_once(one)
                return

    def take_shares(self, good: float) -> None:
        over = 0
        for name, share in self.shares.items():
            allowance = self.room * share // 100 + over
            spent = sum(self.cost(one) for one in self.taken if one.section == name)
            rows = [one for one in self._left_in(name) if _late_score(one) >= good]
            over = self._take_some(rows, min(allowance - spent, self.left))

    def _take_some(self, rows: Sequence[Candidate], allowance: int) -> int:
        """Take the first rows that fit; returns what they leave of the allowance."""
        refused = 0
        for one in rows:
            if (cost := self.cost(one)) <= allowance:
                allowance -= cost
                self.take(one)
            elif (refused := refused + 1) == REFUSALS:
                break
        return max(allowance, 0)

    def fill(self) -> None:
        for one in self.waiting():
            self.take(one)

    def _left_in(self, name: str) -> Iterator[Candidate]:
        return (one for one in self.sections.get(name, ()) if id(one) not in self._ids)


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
            packer.left = budget - tokens
        else:
            packed.chosen.pop()
            if (refused := refused + 1) == REFUSALS:
                return
