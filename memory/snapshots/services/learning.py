"""Decides which predictions came true, and learns the weights of a project from them."""

from datetime import datetime

from ctxhub.core.kit.batches import ROWS_AT_ONCE
from ctxhub.core.kit.transactions import write_transaction
from memory.snapshots.rules.learning import learn
from memory.snapshots.rules.prediction import DEFAULT_WEIGHTS, Parts
from memory.snapshots.sql.outcomes import (
    drop_outcomes,
    mark_misses,
    read_outcomes,
    read_weights,
    write_weights,
)


def decide_some(project_id: int, now: datetime) -> int:
    """Decide at most 500 predictions whose day is over, and delete at most 500 that are kept no longer.

    Returns how many rows it changed. A cleanup task, which runs inside the project's transaction. Reads mark
    the hits themselves, so what is still open after its day is a miss.
    """
    return mark_misses(project_id, now, ROWS_AT_ONCE) + drop_outcomes(project_id, now, ROWS_AT_ONCE)


def learn_weights(project_id: int, now: datetime) -> Parts:
    """Decide what is due, and store and return the weights that the known outcomes teach."""
    while _decide_batch(project_id, now):
        pass
    stored, learned = read_weights(project_id), learn(read_outcomes(project_id))
    if learned != stored:
        with write_transaction(project_id):
            write_weights(project_id, learned, now)
    return learned.weights if learned else DEFAULT_WEIGHTS


def _decide_batch(project_id: int, now: datetime) -> int:
    with write_transaction(project_id):
        return decide_some(project_id, now)
