"""The report of an import: counts of rows taken, already stored and left out, with the reasons."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from ctxhub.core.events.log import Change, record
from ctxhub.core.kit.errors import shown
from ctxhub.core.text.secrets import find_secret

EXAMPLES = 5


class Report:
    """Counts by kind, shown in the order of `kinds`.

    `left` and `changed` take a name and a reason; rows with the same reason are shown together.
    """

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = kinds
        self._taken: Counter[str] = Counter()
        self._found: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._why_left = _Reasons()
        self._why_changed = _Reasons()

    def took(self, kind: str, count: int = 1) -> None:
        self._taken[kind] += count

    def found(self, kind: str, count: int = 1) -> None:
        """Count rows that are already stored."""
        self._found[kind] += count

    def left(self, kind: str, what: str, why: str) -> None:
        self._left[kind] += 1
        self._why_left.note(kind, what, why)

    def left_many(self, kind: str, count: int, why: str) -> None:
        self._left[kind] += count
        self._why_left.counts[kind, why] += count

    def changed(self, kind: str, what: str, why: str) -> None:
        """Note that a row is imported with a change."""
        self._why_changed.note(kind, what, why)

    @property
    def taken(self) -> dict[str, int]:
        return {kind: self._taken[kind] for kind in self._kinds if self._taken[kind]}

    def lines(self) -> Iterator[str]:
        """A table of counts by kind, then each reason with up to five examples."""
        others = sorted(set(self._left) - set(self._kinds))
        kinds = [kind for kind in (*self._kinds, *others) if self._is_known(kind)]
        width = max(map(len, kinds), default=0)
        yield f"{'':{width}}  {'taken':>9}  {'there already':>13}  {'left':>9}"
        for kind in kinds:
            yield (
                f"{kind:{width}}  {self._taken[kind]:>9,}  {self._found[kind]:>13,}  {self._left[kind]:>9,}"
            )
        yield from self._why_left.lines("Left, and why:")
        yield from self._why_changed.lines("Taken, but not as it was:")

    def _is_known(self, kind: str) -> bool:
        return bool(self._taken[kind] or self._found[kind] or self._left[kind])


class _Reasons:
    """Counts by kind and reason, with the first five names."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._examples: dict[tuple[str, str], list[str]] = defaultdict(list)

    def note(self, kind: str, what: str, why: str) -> None:
        examples = self._examples[kind, why]
        if len(examples) < EXAMPLES:
            examples.append(_without_secret(what))
        self.counts[kind, why] += 1

    def lines(self, heading: str) -> Iterator[str]:
        if self.counts:
            yield f"\n{heading}"
        for (kind, why), count in self.counts.items():
            examples = self._examples[kind, why]
            more = count - len(examples)
            behind = f" and {more:,} more" if more else ""
            named = f": {', '.join(map(shown, examples))}{behind}" if examples else ""
            yield f"  {kind} ({count:,}): {why.rstrip('.')}{named}"


def record_import(project_id: int, program: str, report: Report, at: datetime) -> None:
    """Write the event of an import. It names no agent, so that it is news to every agent."""
    counts = report.taken
    note = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    data = {**counts, "note": f"{program}: {note}"}
    change = Change("hub", "imported", f"hub:{program}", data)
    record(project_id=project_id, agent_id=None, changes=[change], at=at)


def _without_secret(what: str) -> str:
    """The text up to the first secret: reports are shared and logged."""
    found = find_secret(what)
    return f"{what[: found.start]}…" if found else what
