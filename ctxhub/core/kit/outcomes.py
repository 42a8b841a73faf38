"""Whether what failed may have been done: a lost connection does not tell what became of a commit."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MARK = "ctxhub_may_be_done"

_commits: ContextVar[list[int] | None] = ContextVar("the write transactions that a call has begun to commit")


@contextmanager
def telling_outcome() -> Iterator[None]:
    """Surrounds a call. Its errors tell whether one of its write transactions may have been committed."""
    token = _commits.set([])
    try:
        yield
    except Exception as error:
        if _commits.get():
            setattr(error, MARK, True)  # The call's error may be answered outside of its thread.
        raise
    finally:
        _commits.reset(token)


def begin_commit(project_id: int) -> None:
    if (commits := _commits.get(None)) is not None:
        commits.append(project_id)


def may_be_done(error: BaseException) -> bool:
    """Whether the call that failed may have written something."""
    return hasattr(error, MARK) or bool(_commits.get(None))
