"""Notes each call, its caller and operation, and the tokens of its answer; a thread adds them up."""

import time
from collections.abc import Sequence
from contextvars import ContextVar, Token
from threading import Lock

from ctxhub.core.events.waiting import is_again
from ctxhub.core.kit import clock
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.served import UNKNOWN, note_answer
from ctxhub.core.use.services import Asked, Behind, Kind, Use, write_empty_searches, write_use

# Characters behind answers that count as an item that waits: they wait in memory.
CHARACTERS_OF_ITEM = 2_000
SECONDS_OF_HOUR = 3_600
SECONDS = 10.0
AT_ONCE = 2_000


class Call:
    """A call while it runs, as a context manager. What runs it fills in the agent and the operation.

    `operation`: "" until it is known; a call of something unknown is counted as such.
    """

    __slots__ = ("_token", "behind", "caller", "operation", "writes")

    def __init__(self, caller: Caller, operation: str = "", *, writes: bool = False) -> None:
        self.caller, self.operation, self.writes = caller, operation, writes
        self.behind: list[Behind] | None = None
        self._token: Token[Call | None] | None = None

    def __enter__(self) -> "Call":
        self._token = _running.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token
        _running.reset(self._token)

    def answered(self, tokens: int, *, is_error: bool = False) -> None:
        """Count the call, with an answer of so many tokens. A repeated run of it adds its tokens alone."""
        caller = self.caller
        note_answer(self.operation or UNKNOWN, tokens, is_error=is_error, is_again=is_again())
        kind = (
            *(caller.project_id, caller.agent, self.operation or UNKNOWN, self.writes),
            int(time.time()) // SECONDS_OF_HOUR,
        )
        with _lock:
            if (use := _adding_up.get(kind)) is None:
                use = _adding_up[kind] = Use(kind)
                WRITER.put(use)
            use.calls += not is_again()
            use.errors += is_error
            use.tokens += tokens
            use.most_tokens = max(use.most_tokens, tokens)
            if self.behind:
                use.shortened.append((tokens, self.behind))
                WRITER.add_items(sum(map(_size, self.behind)) // CHARACTERS_OF_ITEM)


_running: ContextVar[Call | None] = ContextVar("ctxhub_call", default=None)


def running(caller: Caller, operation: str, *, writes: bool) -> None:
    """Say which operation the call at work runs, and as which agent."""
    if (call := _running.get()) is not None:
        call.caller, call.operation, call.writes = caller, operation, writes


def behind(*whole: Behind) -> None:
    """Say what the answer of the call at work shows a part of: what would have been opened whole.

    Nothing that the agent did not ask for, or might not have opened: such as all hits of a search.
    """
    if (call := _running.get()) is not None:
        call.behind = [*(call.behind or ()), *whole]


def found_nothing(query: str) -> None:
    """Note that the call at work asked this and found nothing."""
    if (call := _running.get()) is not None:
        EMPTY_SEARCHES.put(Asked(call.caller.project_id, call.caller.agent, query, clock.now()))


def _write(uses: Sequence[Use]) -> None:
    with _lock:  # From here on nothing is added to them.
        for use in uses:
            if _adding_up.get(use.kind) is use:
                del _adding_up[use.kind]
    write_use(uses)


def _size(behind: Behind) -> int:
    return len(behind) if isinstance(behind, str) else 0


_lock = Lock()
_adding_up: dict[Kind, Use] = {}
when_replaced.append(_adding_up.clear)
WRITER = BackgroundWriter("counting use", _write, seconds=SECONDS, at_once=AT_ONCE)
EMPTY_SEARCHES = BackgroundWriter("noting searches that found nothing", write_empty_searches, seconds=SECONDS)
