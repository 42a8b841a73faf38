"""A private folder for what is half done, removed at the end, or by the next run after a kill."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks.
    fcntl = None  # type: ignore[assignment]

PREFIX = ".ctxhub-at-work-"
LOCK = "lock"


@contextmanager
def work_folder(beside: Path) -> Iterator[Path]:
    """A new folder in the folder `beside`, of mode 700."""
    _remove_left(beside)
    made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
    try:
        with (made / LOCK).open("wb") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _remove_left(beside: Path) -> None:
    """Remove the folders of processes that were killed: nobody holds the lock in them."""
    if fcntl is None:
        return
    for left in beside.glob(f"{PREFIX}*"):
        with suppress(OSError), (left / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
