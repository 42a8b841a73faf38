"""Keeps the threads of a server from holding each other up."""

import gc
import sys


def settle() -> None:
    """Call it once, when all is loaded.

    A call that computes for seconds lets the others go on ten times a millisecond: each step of a statement
    gives the interpreter up and asks for it again. At the default of 5 ms a read waited for 2 s at p95 beside
    the analysis of a mebibyte, at 0.5 ms for 0.2 s, at 0.1 ms for 0.05 s; calls a second are the same.

    What exists now stays: no collection looks through it again, which held all calls up for 0.1 s.
    """
    sys.setswitchinterval(0.0001)
    gc.collect()
    gc.freeze()
