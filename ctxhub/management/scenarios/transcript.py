"""What every story is made of: agents that call, and answers that have to be right."""

from typing import Any, Protocol

Answer = dict[str, Any]


class Unexpected(Exception):
    """An answer that is not what the story tells."""


class Agent(Protocol):
    """`call` has to succeed, `refused` has to fail; both raise Unexpected otherwise.

    A tool of one operation has no action.
    """

    async def call(self, tool: str, action: str = "", **arguments: Any) -> Answer: ...

    async def refused(self, tool: str, action: str, **arguments: Any) -> Answer: ...


def expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Unexpected(f"{what}: expected {expected!r}, found {found!r}")


def column(answer: Answer, name: str) -> list[Any]:
    """What the rows of a list hold in one column; nothing where the column is empty, and so left out."""
    if name not in answer["columns"]:
        return []
    place = answer["columns"].index(name)
    return [row[place] for row in answer["rows"]]
