"""What processes use: processor time, memory, and bytes written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """MiB of a process. `pss`: what it shares with others counts for each of them in part."""

    rss: float
    pss: float


def tree(pid: int) -> Sequence[psutil.Process]:
    """A process with all that it has started."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def memory_of(process: psutil.Process) -> Memory:
    """Linux alone tells the second."""
    found = dict(_sizes(Path(f"/proc/{process.pid}/smaps_rollup").read_text()))
    return Memory(found["Rss"] / 1024, found["Pss"] / 1024)


def _sizes(text: str) -> Iterable[tuple[str, int]]:
    for line in text.splitlines()[1:]:
        name, _, rest = line.partition(":")
        if rest.endswith("kB"):
            yield name, int(rest.split()[0])


def memory_of_all(processes: Sequence[psutil.Process]) -> Memory:
    """In sum."""
    each = [memory_of(process) for process in processes]
    return Memory(sum(one.rss for one in each), sum(one.pss for one in each))


def cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    """Also of those that ended and were waited for."""
    times = [process.cpu_times() for process in processes]
    return sum(time.user + time.system for time in times) + times[0].children_user + times[0].children_system


def written_bytes(processes: Sequence[psutil.Process]) -> int:
    """What they had the disk write, as far as they live."""
    return sum(process.io_counters().write_bytes for process in processes)
