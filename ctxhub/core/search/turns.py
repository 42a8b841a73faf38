"""Things said in turn: how much of its score one that was found lends to those beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

REPLY = 0.6
BESIDE = (0.2, 0.1)
QUESTION_MARKS = ("?", "\uff1f", "\u061f")


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said: its last characters, and who stands around it, the nearest first."""

    ending: str
    following: Sequence[int | None]
    before: Sequence[int | None]
    replies: Sequence[int] = ()

    @property
    def asks(self) -> bool:
        return self.ending.rstrip(" \n\t)\"'»”*_").endswith(QUESTION_MARKS)


def shares_of(turn: Turn) -> Mapping[int, float]:
    """By their ids: a reply, or what follows a question, most; what stands further away, less."""
    shares = dict.fromkeys(turn.replies, REPLY)
    for side in (turn.following, turn.before):
        for other, share in zip(side, BESIDE, strict=False):
            if other is not None:
                shares[other] = max(shares.get(other, 0.0), share)
    if turn.asks and turn.following and turn.following[0] is not None:
        shares[turn.following[0]] = REPLY
    return shares
