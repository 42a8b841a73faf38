"""What every face is asked alike: whether a refusal is the right one, and that it leaves no trace."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ctxhub.mcp.methods import answer
from ctxhub.mcp.requests import Request, Work
from ctxhub.mcp.subscriptions import Listening
from tests.databases import rolled_back
from tests.roles.people import Asker
from tests.roles.world import World, without_apollo
from tests.tables import dump_written

RowT = TypeVar("RowT")
Json = dict[str, Any]
Told = tuple[int, Any]
"""A status of HTTP, and what was answered."""


class Wrong(list[str]):
    """The cells that are not as expected: a failure names them all."""

    def unless(self, is_right: bool, cell: str, told: object) -> None:
        if not is_right:
            self.append(f"{cell}: {str(told)[:300]}")

    @property
    def told(self) -> str:
        return "\n".join(self)


def is_refused(asker: Asker, told: Told) -> bool:
    """Whether it is the right refusal of who may not: 401 to who is not known, 403 to who is."""
    status, body = told
    return status == (403 if asker.is_known else 401) and body.get("error") == "not_allowed"


@contextmanager
def without_a_trace(world: World, wrong: Wrong, asker: Asker) -> Iterator[None]:
    """Nothing in apollo is changed by the block."""
    before = dump_written(world.apollo)
    yield
    after = dump_written(world.apollo)
    changed = [table for table in before if before[table] != after[table]]
    wrong.unless(not changed, f"what {asker} may not", f"changed {changed}")


def compare_with_nothing(
    world: World,
    wrong: Wrong,
    ask: Callable[[Asker, RowT], Any],
    askers: Sequence[Asker],
    rows: Sequence[RowT],
) -> list[tuple[Asker, RowT, Any]]:
    """A stranger is answered as if apollo had never been there, and changes nothing in it.

    Returns the answers.
    """
    all_told = []
    for asker in askers:
        with without_a_trace(world, wrong, asker):
            told = [_rolled_back(ask, asker, row) for row in rows]
        with without_apollo(world):
            expected = [_rolled_back(ask, asker, row) for row in rows]
        for row, one, other in zip(rows, told, expected, strict=True):
            wrong.unless(one == other, f"{asker}: {row}", f"{one}, but without apollo {other}")
            all_told.append((asker, row, one))
    return all_told


def _rolled_back(ask: Callable[[Asker, RowT], Any], asker: Asker, row: RowT) -> Any:
    with rolled_back():
        return ask(asker, row)


def answered(request: Request) -> Json:
    """The result of a request of MCP in this process. Raises RpcError."""
    result = answer(request)
    if isinstance(result, Work):
        try:
            return result.run()
        except Exception as error:
            return result.failed(error)
    return {"listens to": result.uris} if isinstance(result, Listening) else result
