"""The rows that may be in a briefing, and those that are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

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
# Of the text of a row, while another row waits for room.
ROW_TOKENS = 60
# Stands in a text that could say more.
CUT = "…"


@frozen(slots=False)
class Candidate:
    """A row that may be in a briefing.

    `write` makes its text of at most so many tokens: it is called only for a row that may fit. `score`: 0 to
    1 and more, comparable between sections. `is_must`: it must be read, and is packed first; `is_named`:
    since it names a path that was asked for; `specific` says how exactly. `urgency`: a constraint's priority.
    `key`: the object, if it may be stale. `whole`: of a shorter or longer form of a row the row as it was.
    """

    section: str
    ref: str
    write: Callable[[int], str]
    by: str
    at: str
    score: float
    is_must: bool = False
    is_named: bool = False
    specific: tuple[int, ...] = ()
    urgency: int = 0
    why: str = ""
    version: str = ""
    key: ObjectKey | None = None
    length: int = ROW_TOKENS
    whole: "Candidate | None" = None

    @cached_property
    def text(self) -> str:
        return self.write(self.length)

    @property
    def row(self) -> list[str]:
        return self.row_with(self.text)

    def row_with(self, text: str) -> list[str]:
        return [self.ref, text, self.by, self.at, *([self.why] if self.why else [])]

    def of_length(self, tokens: int) -> "Candidate":
        """The same row with a text of at most so many tokens."""
        return replace(self, length=tokens, whole=self.whole or self)

    @property
    def order(self) -> tuple[bool, bool, list[int], float]:
        """Sorts a section: what must be read first, before all what holds everywhere; then by score."""
        return not self.is_must, self.is_named, [-part for part in self.specific], -self.score

    @property
    def place(self) -> int:
        """Tells the row from others, whatever the length of its text."""
        return id(self.whole or self)


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
