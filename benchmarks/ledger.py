"""What a crowd knows of a hub: writes that were acknowledged, and who holds the lease."""

import threading
from dataclasses import astuple, dataclass, field


@dataclass
class Ledger:
    """Shared by threads. `port` is that of the server while one runs."""

    token: str
    project: str
    values: dict[str, str] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    overlapping_leases: int = 0
    refused: list[str] = field(default_factory=list)
    port: int = 0
    is_up: threading.Event = field(default_factory=threading.Event)
    is_over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _holder: str = ""

    def note_lease(self, agent: str) -> None:
        with self._lock:
            self.overlapping_leases += self._holder not in ("", agent)
            self._holder = agent

    def note_release(self) -> None:
        """Call it before the release is sent: from then on another agent may hold the lease."""
        with self._lock:
            self._holder = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """All but the first two are 0 in a hub that keeps its promises."""

    rounds: int
    acknowledged: int
    lost: int
    doubled: int
    half_batches: int
    version_gaps: int
    overlapping_leases: int
    events_missed: int
    refused: int

    @property
    def is_clean(self) -> bool:
        _, acknowledged, *wrong = astuple(self)
        return bool(acknowledged) and not any(wrong)
