"""Ends a worker when the process that started it has died, however it died."""

import multiprocessing
import os
import signal
import threading
import time

SECONDS_TO_END = 10


def end_with_parent() -> None:
    """Watch the parent in a thread. Does nothing in a process that multiprocessing has not started."""
    if multiprocessing.parent_process() is not None:
        threading.Thread(target=_wait_and_end, name="ctxhub-parent", daemon=True).start()


def _wait_and_end() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    signal.raise_signal(signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)  # It hangs, and nobody else would end it.
