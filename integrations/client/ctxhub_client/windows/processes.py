"""The processes above this one: which client runs it. Linux, macOS and Windows each tell it in their way."""

from __future__ import annotations

import os
import re
import sys

from ctxhub_client.process import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Iterator, Mapping

# Between a client and what it runs.
LAUNCHERS = re.compile(
    r"(?:ba|da|z|fi|k|c|tc)?sh(?:\.exe)?|cmd\.exe|env|timeout|nice|uv|uvx|python[\d.]*(?:\.exe)?|py(?:\.exe)?|ctxhub",
    re.IGNORECASE,
)

MOST_ANCESTORS = 12


class Process:
    """`started`: when, in the system's own unit; a later process of the same id has another one."""

    def __init__(self, process_id: int, name: str, parent: int, started: int) -> None:
        self.id = process_id
        self.name = name
        self.parent = parent
        self.started = started

    @property
    def mark(self) -> str:
        return "{} {}".format(self.id, self.started)


def client_process() -> str:
    """The client that runs this process: its mark, or what is known of it."""
    for process in ancestors():
        if not LAUNCHERS.fullmatch(process.name) or process.parent <= 1:
            return process.mark
    return str(os.getppid())


def ancestors(find: Callable[[int], Process | None] | None = None, first: int = 0) -> Iterator[Process]:
    """Those above this process, the nearest first, as far as the system tells."""
    find = find or finder()
    process_id, started = first or os.getppid(), None
    for _ in range(MOST_ANCESTORS):
        process = find(process_id) if process_id > 0 else None
        # The id of a parent that ended may be another process's.
        if process is None or (started is not None and process.started > started):
            return
        yield process
        process_id, started = process.parent, process.started


def finder() -> Callable[[int], Process | None]:
    if sys.platform.startswith("linux"):
        return process_of_linux
    found = processes_of_windows() if os.name == "nt" else processes_of_ps()
    return found.get


def is_alive(process_id: int, started: int = 0) -> bool:
    """Whether a process runs. `started`: no later one of this id; known quickly on Linux alone."""
    if sys.platform.startswith("linux"):
        process = process_of_linux(process_id)
        return process is not None and started in (0, process.started)
    if os.name == "nt":
        return process_id in processes_of_windows()
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def machine() -> str:
    """This run of this system, and whose processes are seen from here: containers have ids of their own."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return "{} {}".format(file.read().strip(), os.readlink("/proc/self/ns/pid"))
    except OSError:
        return ""


# -- Linux -----------------------------------------------------------------------------------------------


def process_of_linux(process_id: int) -> Process | None:
    try:
        with open("/proc/{}/stat".format(process_id), "rb") as file:
            return read_stat(file.read())
    except OSError:
        return None


def read_stat(stat: bytes) -> Process | None:
    """A line of /proc/ID/stat; the name in it may hold anything."""
    head, _, rest = stat.decode("utf-8", "replace").rpartition(")")
    process_id, _, name = head.partition(" (")
    values = rest.split()
    try:
        return Process(int(process_id), name, int(values[1]), int(values[19]))
    except (ValueError, IndexError):
        return None


# -- macOS and others --------------------------------------------------------------------------------------


def processes_of_ps() -> Mapping[int, Process]:
    import subprocess

    try:
        done = subprocess.run(
            ["ps", "-axo", "pid=,ppid=,lstart=,comm="],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ, LC_ALL="C"),
            timeout=1,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        log("ps:", error)
        return {}
    return read_ps(done.stdout.decode("utf-8", "replace"))


def read_ps(listed: str) -> dict[int, Process]:
    """What `ps -axo pid=,ppid=,lstart=,comm=` prints: `123 1 Sat Nov 28 12:00:00 2026 /bin/zsh`."""
    import calendar
    import time

    found = {}
    for line in listed.splitlines():
        values = line.split(None, 7)
        try:
            started = calendar.timegm(time.strptime(" ".join(values[2:7]), "%a %b %d %H:%M:%S %Y"))
            process_id, parent, name = int(values[0]), int(values[1]), values[7].strip()
        except (ValueError, IndexError):
            continue
        # A login shell is `-zsh`.
        found[process_id] = Process(process_id, os.path.basename(name).lstrip("-"), parent, started)
    return found


# -- Windows -----------------------------------------------------------------------------------------------


def processes_of_windows() -> Mapping[int, Process]:
    if sys.platform != "win32":
        return {}
    import ctypes
    from ctypes import wintypes

    class Entry(ctypes.Structure):
        _fields_ = [
            ("dwSize", wintypes.DWORD),
            ("cntUsage", wintypes.DWORD),
            ("th32ProcessID", wintypes.DWORD),
            ("th32DefaultHeapID", ctypes.c_size_t),
            ("th32ModuleID", wintypes.DWORD),
            ("cntThreads", wintypes.DWORD),
            ("th32ParentProcessID", wintypes.DWORD),
            ("pcPriClassBase", wintypes.LONG),
            ("dwFlags", wintypes.DWORD),
            ("szExeFile", wintypes.WCHAR * 260),
        ]

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.CreateToolhelp32Snapshot.restype = wintypes.HANDLE
    kernel.OpenProcess.restype = wintypes.HANDLE
    times = [wintypes.FILETIME() for _ in range(4)]

    def started(process_id: int) -> int:
        handle = kernel.OpenProcess(0x1000, False, process_id)  # PROCESS_QUERY_LIMITED_INFORMATION
        if not handle:
            return 0
        try:
            told = kernel.GetProcessTimes(wintypes.HANDLE(handle), *map(ctypes.byref, times))
            return (times[0].dwHighDateTime << 32) + times[0].dwLowDateTime if told else 0
        finally:
            kernel.CloseHandle(wintypes.HANDLE(handle))

    snapshot = wintypes.HANDLE(kernel.CreateToolhelp32Snapshot(2, 0))  # TH32CS_SNAPPROCESS
    entry = Entry(dwSize=ctypes.sizeof(Entry))
    parents = {}
    goes_on = kernel.Process32FirstW(snapshot, ctypes.byref(entry))
    while goes_on:
        parents[entry.th32ProcessID] = (entry.szExeFile, entry.th32ParentProcessID)
        goes_on = kernel.Process32NextW(snapshot, ctypes.byref(entry))
    kernel.CloseHandle(snapshot)
    return Started(parents, started)


class Started:
    """The processes of Windows; when one started is asked for one by one."""

    def __init__(self, parents: Mapping[int, tuple[str, int]], started: Callable[[int], int]) -> None:
        self._parents = parents
        self._started = started

    def get(self, process_id: int) -> Process | None:
        if process_id not in self._parents:
            return None
        name, parent = self._parents[process_id]
        return Process(process_id, name, parent, self._started(process_id))

    def __contains__(self, process_id: int) -> bool:
        return process_id in self._parents
