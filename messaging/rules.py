"""The rule of who owes what of a message. The conditions of models/delivery.py say the same in SQL."""

from datetime import datetime

from messaging.models.delivery import URGENT

READ, ACK = "read", "ack"
OWED = (READ, ACK)


def owes(
    *, owed: bool, ack: bool, priority: int, read_at: datetime | None, acked_at: datetime | None
) -> str | None:
    """What is missing from a recipient: an acknowledgement, which is a reading too, or an urgent reading."""
    if not owed:
        return None
    if ack and acked_at is None:
        return ACK
    return READ if priority >= URGENT and read_at is None else None
