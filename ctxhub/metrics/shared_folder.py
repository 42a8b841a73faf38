"""The folder in which workers count, so that each of them tells the sum."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

logger = logging.getLogger(__name__)
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def shared_folder(workers: int) -> Iterator[None]:
    """Let the processes that are started meanwhile share a new folder, if there are several.

    A folder that the environment names is used as it is. Where none can be made, each counts for itself.
    """
    if workers == 1 or os.environ.get(VARIABLE):
        yield
        return
    try:
        made = TemporaryDirectory(prefix="ctxhub-metrics-", ignore_cleanup_errors=True)
    except OSError as error:
        logger.warning("Each worker tells its own metrics, not the sum: no folder for them (%s).", error)
        yield
        return
    with made as folder:
        os.environ[VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[VARIABLE]


def forget_dead_workers() -> None:
    """Remove what workers that have ended had waiting or streaming; what they counted stays."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return
    from prometheus_client.multiprocess import mark_process_dead

    for file in Path(folder).glob("gauge_live*_*.db"):
        process = file.stem.rpartition("_")[2]
        if process.isdigit() and not _is_alive(int(process)):
            with suppress(FileNotFoundError):  # Another worker was first.
                mark_process_dead(process, folder)  # type: ignore[no-untyped-call]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
