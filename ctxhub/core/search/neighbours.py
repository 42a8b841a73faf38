"""Conversations: the share of its score that a found message adds to each neighbour."""

from collections.abc import Mapping, Sequence

from ctxhub.core.kit.frozen import frozen

REPLY = 0.6
BESIDE = (0.2, 0.1)
QUESTION_MARKS = ("?", "\uff1f", "\u061f")


@frozen
class Turn:
    """One message: its last characters, and the ids of its neighbours, the nearest first."""

    ending: str
    following: Sequence[int | None]
    before: Sequence[int | None]
    replies: Sequence[int] = ()

    @property
    def asks(self) -> bool:
        return self.ending.rstrip(" \n\t)\"'»”*_").endswith(QUESTION_MARKS)


def shares_of(turn: Turn) -> Mapping[int, float]:
    """Return shares by id: most for a reply, or the message after a question; less with distance."""
    shares = dict.fromkeys(turn.replies, REPLY)
    for side in (turn.following, turn.before):
        for other, share in zip(side, BESIDE, strict=False):
            if other is not None:
                shares[other] = max(shares.get(other, 0.0), share)
    if turn.asks and turn.following and turn.following[0] is not None:
        shares[turn.following[0]] = REPLY
    return shares
