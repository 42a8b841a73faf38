"""Wakes the worker of this process when something is to be delivered that no event of its own tells."""

from collections.abc import Callable

from django.db import transaction

# The serving process registers its worker; each may be called in any thread.
workers: list[Callable[[], None]] = []


def wake_on_commit() -> None:
    transaction.on_commit(wake)


def wake() -> None:
    for wake_worker in workers:
        wake_worker()
