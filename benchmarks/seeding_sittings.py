"""Fills projects with snapshots, sessions and files for `benchmarks.sittings`, in bulk."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.prose import Prose

if TYPE_CHECKING:
    from django.db.models import Model

    from ctxhub.core.kit.caller import Caller

AGENTS = TAGS = WORKSPACES = 10
# One snapshot in ten is in the search index, which takes longest to write. Twenty have the word.
INDEXED = 10
WORD = "needle"
VALUES_AT_ONCE = 30_000
# The snapshots are up to 60 days old, half of them less than four.
OLDEST = timedelta(days=60)
OLDEST_SESSION = timedelta(days=25)
CONVERSATION_TOKENS = 700

Values = dict[str, Any]
"""The values of a row's columns; those that are left out get their defaults."""


def make_project(slug: str) -> "Caller":
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller

    return Caller(project=create_project(slug=slug), agent="agent-0")


def fill_lists(caller: "Caller", size: int) -> int:
    """As many snapshots, sessions, files and accesses; returns the first session, which has every file.

    Each filter of a list finds a tenth of the rows, or a fifth.
    """
    agents, project_id = _add_agents(caller), caller.project_id
    _add_snapshots(project_id, size, agents)
    sessions = _add_sessions(project_id, size, agents)
    _add_accesses(project_id, size, agents, sessions, add_files(project_id, size))
    return sessions[0]


def add_files(project_id: int, count: int, *, with_text: bool = False) -> list[int]:
    """Files in folders of a hundred; their texts have up to 600 tokens. Returns their ids."""
    from ctxhub.core.text.token_count import count_tokens
    from tracking.models import FileContent, Resource

    prose = Prose(seed=3)
    texts = [_source(prose, n) for n in range(count)] if with_text else []
    tokens = [count_tokens(text) for text in texts]
    hashes = [sha256(text.encode()).hexdigest() for text in texts]
    contents = _insert(
        FileContent,
        (
            {"project_id": project_id, "hash": hashed, "text": text, "tokens": size}
            for hashed, text, size in zip(hashes, texts, tokens, strict=True)
        ),
    )
    return _insert(
        Resource,
        (
            {
                "project_id": project_id,
                "path": f"src/{n // 100}/part_{n}.py",
                "type": 1,
                "content_id": contents[n] if with_text else None,
                "hash": hashes[n] if with_text else "",
                "tokens": tokens[n] if with_text else n % 2_000,
                "access_count": n % 7,
            }
            for n in range(count)
        ),
    )


# -- Walks -----------------------------------------------------------------------------------------


def add_chain(project_id: int, length: int, *, is_circle: bool = False) -> int:
    """Snapshots of which each is the cause of the next; returns the last one."""
    from memory.snapshots.models import Snapshot

    first = _next_id(Snapshot)
    causes = [first + length - 1 if is_circle else None, *range(first, first + length - 1)]
    return _add_steps(project_id, causes)[-1]


def add_fan(project_id: int, width: int) -> int:
    """Snapshots with one cause; returns the cause."""
    [cause] = _add_steps(project_id, [None])
    _add_steps(project_id, [cause] * width)
    return cause


def _add_steps(project_id: int, causes: Sequence[int | None]) -> list[int]:
    """A snapshot for each cause."""
    from ctxhub.core.kit import clock
    from memory.snapshots.models import Snapshot

    now = clock.now()
    return _insert(
        Snapshot,
        (
            {
                "project_id": project_id,
                **_text(f"Step {n}"),
                **_made(now - timedelta(seconds=len(causes) - n)),
                "caused_by_id": cause,
            }
            for n, cause in enumerate(causes)
        ),
    )


# -- Sessions --------------------------------------------------------------------------------------


def add_saved_sessions(caller: "Caller", count: int) -> list[int]:
    """Sessions in 100 workspaces, with two conversations, five items, a state and three files each."""
    from ctxhub.core.kit import clock, sql
    from ctxhub.core.text.token_count import count_tokens
    from sessions.models import AgentSession, ContextItem, Conversation, SessionResource, WorkspaceState

    [agent, *_], now, prose = _add_agents(caller), clock.now(), Prose(seed=7)
    own = {"project_id": caller.project_id}
    texts = [_conversation(prose, CONVERSATION_TOKENS) for _ in range(20)]
    tokens = [count_tokens(text) for text in texts]
    items = [prose.text() for _ in range(20)]
    files = add_files(caller.project_id, 300)
    times = [now - timedelta(seconds=count - n) for n in range(count)]
    ids = _insert(
        AgentSession,
        (
            {
                **own,
                "agent_id": agent,
                "workspace_id": f"workspace {n % 100}",
                "summary": items[n % 20],
                **_saved(at),
            }
            for n, at in enumerate(times)
        ),
    )
    each = [{**own, "session_id": row_id} for row_id in ids]
    _insert(
        Conversation,
        (
            {**row, "text": texts[(n + m) % 20], "token_count": tokens[(n + m) % 20], "hash": f"{m}"}
            for n, row in enumerate(each)
            for m in range(2)
        ),
    )
    _insert(
        ContextItem,
        (
            {**row, "position": m, "category": "task", "content": items[(n + m) % 20], "token_count": 40}
            for n, row in enumerate(each)
            for m in range(5)
        ),
    )
    servers = sql.stored_json(["github"])
    _insert(WorkspaceState, ({**row, "branch": "main", "enabled_mcps": servers} for row in each))
    _insert(
        SessionResource,
        (
            {**row, "resource_id": files[(n + 100 * m) % 300], "is_saved": True, "hash": f"{m}"}
            for n, row in enumerate(each)
            for m in range(3)
        ),
    )
    return ids


def save_long_session(caller: "Caller") -> int:
    """A session with ten conversations of 2,000 tokens, 30 items and 20 files; returns its id."""
    from sessions.sittings.services import save_session

    prose = Prose(seed=2)
    saved = save_session(
        caller=caller,
        workspace_id="long",
        summary=prose.text(),
        items=[{"category": "task", "content": prose.text(), "importance": 1 + n % 10} for n in range(30)],
        files=[{"path": f"src/part_{n}.py", "hash": f"{n:040x}"} for n in range(20)],
        branch="main",
    )
    for _ in range(10):
        save_session(caller=caller, session=saved["session"], conversation=_conversation(prose, 2_000))
    return saved["session"]


def add_working_session(caller: "Caller", files: int, of: int) -> int:
    """A session that has touched `files` of the project's `of` files, each of which needs another one."""
    from ctxhub.core.kit import clock
    from sessions.models import AgentSession, ResourceDependency, SessionResource

    [agent, *_], now, own = _add_agents(caller), clock.now(), {"project_id": caller.project_id}
    known = add_files(caller.project_id, of, with_text=True)
    [session] = _insert(AgentSession, [{**own, "agent_id": agent, **_saved(now)}])
    _insert(
        SessionResource,
        (
            {
                **own,
                "session_id": session,
                "resource_id": known[n * of // files],
                "access_count": 1 + n % 9,
                "last_accessed": now - timedelta(minutes=n),
                "best_access": 1 + n % 4,
            }
            for n in range(files)
        ),
    )
    _insert(
        ResourceDependency,
        (
            {
                **own,
                "source_id": source,
                "target_id": known[(7 * n + 1) % of],
                "type": "imports",
                "strength": 1 + n % 5,
            }
            for n, source in enumerate(known)
        ),
    )
    return session


# -- Lists -----------------------------------------------------------------------------------------


def _add_snapshots(project_id: int, size: int, agents: Sequence[int]) -> None:
    from ctxhub.core.kit import clock
    from ctxhub.core.models import Tag
    from ctxhub.core.search.index import index_again
    from memory.snapshots.models import Snapshot, SnapshotDependency, SnapshotTag

    now, own, first = clock.now(), {"project_id": project_id}, _next_id(Snapshot)
    times = [now - OLDEST * (1 - n / size) ** 4 for n in range(size)]
    words = ["" if n % (size // 20) else WORD for n in range(size)]
    ids = _insert(
        Snapshot,
        (
            {
                **own,
                **_text(f"Step {n}: {word}"),
                **_made(at, read_at=at + (now - at) / 2 if n % 3 == 0 else None),
                "agent_id": agents[n % AGENTS],
                "action_type": 1 + n // AGENTS % 5,
                "caused_by_id": first + n // 2 if n else None,
            }
            for n, (at, word) in enumerate(zip(times, words, strict=True))
        ),
    )
    tags = list(Tag.unscoped.filter(project_id=project_id).order_by("pk").values_list("pk", flat=True)[:TAGS])
    _insert(
        SnapshotTag,
        (
            {**own, "snapshot_id": row_id, "tag_id": tags[n // AGENTS % TAGS], "created_at": times[n]}
            for n, row_id in enumerate(ids)
        ),
    )
    _insert(
        SnapshotDependency,
        (
            {**own, "snapshot_id": row_id, "dependency_id": ids[2 * n // 3]}
            for n, row_id in enumerate(ids)
            if n > 2
        ),
    )
    index_again(project_id, "snapshot", [row_id for n, row_id in enumerate(ids) if n % INDEXED == 0])


def _add_sessions(project_id: int, size: int, agents: Sequence[int]) -> list[int]:
    """A tenth of them continues the first one. A fifth is implicit."""
    from ctxhub.core.kit import clock
    from sessions.models import AgentSession

    now, first = clock.now(), _next_id(AgentSession)
    return _insert(
        AgentSession,
        (
            {
                "project_id": project_id,
                "agent_id": agents[n % AGENTS],
                "workspace_id": f"workspace {n // 50 % WORKSPACES}",
                "summary": _PROSE.word(),
                "is_implicit": n // AGENTS % 5 == 4,
                "parent_id": (first if n % 10 == 3 else first + n - 1) if n else None,
                **_saved(now - OLDEST_SESSION * (1 - n / size)),
            }
            for n in range(size)
        ),
    )


def _add_accesses(
    project_id: int, size: int, agents: Sequence[int], sessions: Sequence[int], files: Sequence[int]
) -> None:
    """A tenth of them to the first file, another tenth in the first session, which has every file."""
    from ctxhub.core.kit import clock
    from sessions.models import Access, SessionResource

    now, own = clock.now(), {"project_id": project_id}
    _insert(
        Access,
        (
            {
                **own,
                "resource_id": files[0 if n % 10 == 2 else n],
                "session_id": sessions[0 if n % 10 == 6 else n],
                "agent_id": agents[n % AGENTS],
                "access": 1 + n % 4,
                "created_at": now - OLDEST_SESSION * (1 - n / size),
            }
            for n in range(size)
        ),
    )
    _insert(
        SessionResource,
        (
            {
                **own,
                "session_id": sessions[0],
                "resource_id": file,
                "relevance": n % 100,
                "access_count": 1 + n % 50,
                "last_accessed": now - OLDEST_SESSION * (n / size),
                "best_access": 1 + n % 4,
            }
            for n, file in enumerate(files)
        ),
    )


def _add_agents(caller: "Caller") -> list[int]:
    from ctxhub.core.kit import clock
    from ctxhub.core.kit.transactions import write_transaction
    from ctxhub.core.vocabulary.names import register_agent

    with write_transaction(caller.project_id):
        return [register_agent(replace(caller, agent=f"agent-{n}"), clock.now()) for n in range(AGENTS)]


# -- A database of WakeIQX -------------------------------------------------------------------------


def write_wakeiqx(path: Path, count: int) -> Path:
    """Write a file with causes, tags and 2.5 dependencies a row, and its export beside it, as `.sql`."""
    from tests.importing.old_snapshots import OldSnapshots

    prose, file = Prose(seed=9), OldSnapshots(path)
    file.connection.execute("BEGIN")
    for n in range(count):
        others = sorted({f"s{prose.random.randrange(n)}" for _ in range(n % 6)}) if n else []
        file.add(
            f"s{n}",
            prose.text(),
            tags=f"tag {n % 40}, tag {n % 7}",
            action_type="decision",
            caused_by=f"s{n // 2}" if n else None,
            dependencies=others,
            timestamp=f"2025-{1 + n % 12:02}-{1 + n % 28:02}T12:00:00Z",
        )
    file.connection.execute("COMMIT")
    file.export(path.with_suffix(".sql"))
    return file.close()


# -- Rows ------------------------------------------------------------------------------------------


def _insert(model: "type[Model]", rows: Iterable[Values]) -> list[int]:
    """Insert rows that have the same columns; returns their ids, in order."""
    from ctxhub.core.kit import sql

    ids: list[int] = []
    for some in _batches(iter(rows)):
        given = list(some[0])
        defaults = _defaults(model, given)
        records = [(*map(_stored, row.values()), *defaults.values()) for row in some]
        columns = [*given, *defaults]
        ids += [row_id for (row_id,) in sql.insert(model._meta.db_table, columns, records, "RETURNING id")]
    return sorted(ids)


def _next_id(model: "type[Model]") -> int:
    """The id that the next row gets, so that rows can point to one another without an update."""
    from ctxhub.core.kit import sql

    [(last,)] = sql.rows(f"SELECT coalesce(max(id), 0) FROM {model._meta.db_table}")
    return int(last) + 1


def _batches(rows: Iterator[Values]) -> Iterator[list[Values]]:
    while batch := list(islice(rows, VALUES_AT_ONCE // 30)):
        yield batch


def _defaults(model: "type[Model]", given: Sequence[str]) -> Values:
    """The defaults of a model's other columns, as the database stores them."""
    from django.db import connection

    return {
        field.column: field.get_db_prep_save(field.get_default(), connection)
        for field in model._meta.concrete_fields
        if field.column and field.column not in given and not field.primary_key
    }


def _stored(value: Any) -> Any:
    from ctxhub.core.kit import sql

    return sql.stored_time(value) if isinstance(value, datetime) else value


def _made(at: datetime, read_at: datetime | None = None) -> Values:
    """The times of a snapshot."""
    return {
        "created_at": at,
        "updated_at": at,
        "last_accessed": read_at,
        "touched_at": read_at or at,
        "access_count": int(bool(read_at)),
    }


def _saved(at: datetime) -> Values:
    """The times of a session."""
    return {"created_at": at, "updated_at": at, "saved_at": at, "current_at": at}


def _text(beginning: str) -> Values:
    text = f"{beginning} {_PROSE.text()}"
    return {"summary": text[:200], "content": text, "tokens": len(text) // 4, "source": "mcp"}


def _source(prose: Prose, number: int) -> str:
    """A Python file of some functions."""
    functions = [
        f"def {prose.word()}_{n}(value: int) -> int:\n"
        f'    """{prose.word()} {prose.word()}."""\n    # {prose.word()}\n    return value + {n}\n'
        for n in range(1 + number % 20)
    ]
    return f'"""Part {number}."""\n\n\n' + "\n\n".join(functions)


def _conversation(prose: Prose, tokens: int) -> str:
    """Turns of a user and an assistant, about so many tokens."""
    turns: list[str] = []
    while sum(map(len, turns)) < 3 * tokens:
        turns.append(f"{'user' if len(turns) % 2 == 0 else 'assistant'}: {prose.text()}")
    return "\n".join(turns)


_PROSE = Prose(seed=5)
