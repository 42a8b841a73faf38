"""Types and checks shared by the demo scenarios."""

from typing import Any, Protocol

Answer = dict[str, Any]


class Unexpected(Exception):
    """An answer differs from what the scenario expects."""


class Agent(Protocol):
    """An agent of a scenario. `call` must succeed, `refused` must fail; otherwise both raise Unexpected.

    A tool with a single operation takes no action.
    """

    async def call(self, tool: str, action: str = "", **arguments: Any) -> Answer: ...

    async def refused(self, tool: str, action: str, **arguments: Any) -> Answer: ...


def expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Unexpected(f"{what}: expected {expected!r}, found {found!r}")


def column(answer: Answer, name: str) -> list[Any]:
    """The values of one column of a list; empty if the column is left out, as empty columns are."""
    if name not in answer["columns"]:
        return []
    index = answer["columns"].index(name)
    return [row[index] for row in answer["rows"]]
