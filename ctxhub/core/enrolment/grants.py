"""What a person approves."""

from collections.abc import Mapping
from typing import Any, Self

from ctxhub.core.kit.frozen import frozen


@frozen
class Grant:
    """`agents`: the agent that each client's token is pinned to. `days`: how long they last. `renews`: each
    may be replaced once, by itself, before its end.
    """

    agents: Mapping[str, str]
    scopes: tuple[str, ...]
    days: int
    renews: bool

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        return cls(stored["agents"], tuple(stored["scopes"]), stored["days"], stored["renews"])

    def stored(self) -> dict[str, Any]:
        return {
            "agents": dict(self.agents),
            "scopes": list(self.scopes),
            "days": self.days,
            "renews": self.renews,
        }
