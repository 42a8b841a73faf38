"""What an import took, what was there already, and what it left, with the reasons."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from ctxhub.core.errors import shown
from ctxhub.core.secrets import find_secret

KINDS = (
    *("decisions", "revisions", "rationales", "constraints", "messages", "changes"),
    *("agents", "layers", "tags", "scopes", "categories"),
)
EXAMPLES = 5


class Report:
    """Counted by kind. `left` takes a name for each thing and why; the same reasons stand together."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        self._there: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._more: Counter[tuple[str, str]] = Counter()

    def took(self, kind: str, count: int = 1) -> None:
        self._taken[kind] += count

    def found(self, kind: str, count: int = 1) -> None:
        """It is there already, as it is here or was imported before."""
        self._there[kind] += count

    def left(self, kind: str, what: str, why: str) -> None:
        self._left[kind] += 1
        self._note(kind, what, why)

    def left_many(self, kind: str, count: int, why: str) -> None:
        self._left[kind] += count
        self._more[kind, why] += count

    def _note(self, kind: str, what: str, why: str) -> None:
        examples = self._reasons[kind, why]
        if len(examples) < EXAMPLES:
            examples.append(_without_secret(what))
        self._more[kind, why] += 1

    @property
    def taken(self) -> dict[str, int]:
        return {kind: self._taken[kind] for kind in KINDS if self._taken[kind]}

    def lines(self) -> Iterator[str]:
        """A table of the kinds there are, then each reason with up to five examples."""
        kinds = [kind for kind in (*KINDS, *sorted(set(self._left) - set(KINDS))) if self._is_known(kind)]
        width = max(map(len, kinds), default=0)
        yield f"{'':{width}}  {'taken':>9}  {'there already':>13}  {'left':>9}"
        for kind in kinds:
            yield (
                f"{kind:{width}}  {self._taken[kind]:>9,}  {self._there[kind]:>13,}  {self._left[kind]:>9,}"
            )
        if self._more:
            yield "\nLeft, and why:"
        for (kind, why), count in self._more.items():
            examples = ", ".join(map(shown, self._reasons[kind, why]))
            more = count - len(self._reasons[kind, why])
            named = f": {examples}{f' and {more:,} more' if more else ''}" if examples else ""
            yield f"  {kind} ({count:,}): {why.rstrip('.')}{named}"

    def _is_known(self, kind: str) -> bool:
        return bool(self._taken[kind] or self._there[kind] or self._left[kind])


def _without_secret(what: str) -> str:
    """A report is passed on, and put into logs."""
    found = find_secret(what)
    return f"{what[: found.start]}…" if found else what
