"""Fixtures: the agents Ada and Ben of the project apollo, and Cy of another project, with their clients."""

import gc
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.template import Context
from django.template import Template as DjangoTemplate
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker
from whitenoise.middleware import WhiteNoiseMiddleware

from ctxhub.core.accounts import agents, names_of_people, visits
from ctxhub.core.accounts.access_tokens import create_token, forget_tokens
from ctxhub.core.accounts.names_of_people import forget_names
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.events import cleanup
from ctxhub.core.kit import clock, failures, newer_schema, restored
from ctxhub.core.kit.background import When, all_writers
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.paths import counting
from ctxhub.core.search import counts
from ctxhub.core.templatetags import agent_marks
from ctxhub.core.use import tally
from memory.snapshots import reads
from tests import migrated
from tests.crowd import Crowd, in_processes, over_http, processes
from tests.databases import end_other_connections
from tests.emptying import empty_database, vacuum
from tests.hub import LiveHub, McpClient, RestClient, running_hub
from tests.migrated import Template
from tests.properties import use_profile
from tests.search_index import index_is_right

FOLDER = Path(__file__).parent
# Few and long files, longest first: run last, they would occupy one processor while the others are idle.
LONG = ("lock_holds", "long_texts", "backup_command", "drill_command", "restore_command")
FIRST = [
    *(FOLDER / name for name in ("roles", "golden", "e2e")),
    *(FOLDER / "core" / f"test_{name}.py" for name in LONG),
    *(FOLDER / name for name in ("transfer", "mcp", "sqlew")),
]
# Tests of one face: the services below it are tested on every engine, the contract and the golden hour call
# every operation over MCP and REST there, and the pages' lists are marked `every_engine`.
FACES = ("_admin", "_rest", "_mcp", "_faces")


# While tests are collected nearly everything stays.
gc.disable()
use_profile()
# Read again while a test counts queries, as on a slow machine, they would be one more.
names_of_people.REMEMBERED_SECONDS = agent_marks.REMEMBERED_SECONDS = float("inf")
# Cleanup rests the longer the slower it was: on a busy machine it was not due where a test expected it.
cleanup.REST = 0
# It moves no cursor past events that are no changes: of a new project it does so from id 1,000 on, and all
# tests of a process raise the ids, so the statements of a write depended on the tests before.
counting.PASSED_AT_LEAST = 1_000_000_000


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """On PostgreSQL, what `pytest_collection_modifyitems` would deselect whole is not imported."""
    shows_one_face = collection_path.suffix == ".py" and collection_path.stem.endswith(FACES)
    return (_on_postgres() and shows_one_face and "every_engine" not in collection_path.read_text()) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL only tests that depend on the database are run; the others are the same as on SQLite.

    In CI those that need npm are skipped but in `.ci/nightly`, which runs them alone.
    """
    items.sort(key=lambda item: _place(item.path))
    if os.environ.get("CI") and not os.environ.get("CTXHUB_NIGHTLY"):
        for item in items:
            if item.get_closest_marker("needs_npm"):
                item.add_marker(pytest.mark.skip(reason="needs npm: .ci/nightly runs it"))
    if _on_postgres():
        skipped = [item for item in items if not _depends_on_engine(item)]
        config.hook.pytest_deselected(items=skipped)
        items[:] = [item for item in items if item not in set(skipped)]


def _on_postgres() -> bool:
    return str(settings.DATABASES["default"]["ENGINE"]).endswith("postgresql")


@cache
def _place(path: Path) -> int:
    return next((place for place, first in enumerate(FIRST) if path.is_relative_to(first)), len(FIRST))


def _depends_on_engine(item: pytest.Item) -> bool:
    fixtures = {"db", "transactional_db", "django_db_setup"}
    is_marked = item.get_closest_marker("django_db") is not None
    uses = is_marked or not fixtures.isdisjoint(getattr(item, "fixturenames", ()))
    return uses and (item.get_closest_marker("every_engine") is not None or not _shows_the_same(item))


def _shows_the_same(item: pytest.Item) -> bool:
    return item.path.stem.endswith(FACES) or item.get_closest_marker("one_engine") is not None


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, which took a twentieth of the time.

    What is garbage already stays, too: to find it would take each process half a second.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="session")
def template(
    tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker
) -> Iterator[Template | None]:
    """The migrated database that the processes of pytest-xdist share."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    made = Template(tmp_path_factory.getbasetemp().parent / f"ctxhub_{run}.sqlite3") if run else None
    migrated.shared = made
    yield made
    if made and made.is_mine:
        with django_db_blocker.unblock():
            made.remove()


@pytest.fixture(scope="session")
def django_db_setup(request: pytest.FixtureRequest, template: Template | None) -> None:
    with template.migrating() if template else nullcontext():
        request.getfixturevalue("django_db_setup")


@pytest.fixture(autouse=True, scope="session")
def _static_files_listed_once() -> Iterator[None]:
    """Each client of Django loads the middleware, which looked at all static files each time: 25 ms."""
    listed: dict[str, Any] = {}
    list_files: Callable[[WhiteNoiseMiddleware], None] = WhiteNoiseMiddleware.add_files_from_finders

    def listed_once(self: WhiteNoiseMiddleware) -> None:
        if not listed:
            list_files(self)
            listed.update(self.files)
        self.files.update(listed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", listed_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def _only_pages_tell_their_context(django_test_environment: None) -> Iterator[None]:
    """Django's client copied the context of each of the hundreds of templates that a page includes."""
    render_and_tell: Callable[[DjangoTemplate, Context], str] = DjangoTemplate._render  # type: ignore[attr-defined]

    def render(self: DjangoTemplate, context: Context) -> str:
        is_page = context.template is self
        return render_and_tell(self, context) if is_page else self.nodelist.render(context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DjangoTemplate, "_render", render)
        yield


@pytest.fixture(autouse=True, scope="session")
def _emptied_quickly() -> Iterator[None]:
    """Faster cleanup after commits: Django's `flush` and new connections took a third of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty_database())
        patch.setattr(TransactionTestCase, "_should_reload_connections", lambda case: False)
        yield


@pytest.fixture(autouse=True, scope="module")
def _vacuumed(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if connection.vendor == "postgresql":
        with request.getfixturevalue("django_db_blocker").unblock():
            vacuum()


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """Clear the caches of the process: tests roll back, so ids are used again.

    No thread writes in the background: what waits is written when a test says so, or never.
    """
    forget_tokens()
    forget_names()
    agent_marks.forget_marks()
    agents._touched.clear()
    cleanup._cleaned.clear()
    visits._looked.clear()
    visits._noted.clear()
    failures._unwritable_at.clear()
    failures._newer_at.clear()
    newer_schema._known.unknown = newer_schema._known.lacking = ()
    restored._known.has_other_key = False
    reads._noted_at.clear()
    tally._adding_up.clear()
    counts._remembered.clear()
    counts._sizes.clear()
    reads._WRITER.when = When.AT_ONCE
    for writer in all_writers():
        if writer.when is When.IN_BACKGROUND:
            writer.when = When.ON_FLUSH
    yield
    for writer in all_writers():
        writer.discard()


@pytest.fixture(scope="module")
def rows_of_module(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Fixtures of the module write inside `with rows_of_module()` what all its tests read.

    What a test writes is rolled back behind it, and these rows behind the last one. All tests of the module
    find them, also those that do not ask for them. The hub does not: it has connections of its own.
    """
    whole = transaction.atomic()
    with django_db_blocker.unblock():
        whole.__enter__()
    yield django_db_blocker.unblock
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        whole.__exit__(None, None, None)


@pytest.fixture
def apollo(db: None) -> Project:
    return just_cleaned(create_project(slug="apollo"))


@pytest.fixture
def hermes(db: None) -> Project:
    return just_cleaned(create_project(slug="hermes"))


def just_cleaned(project: Project) -> Project:
    """So that the first write of each test does not clean up an empty project, which took longer than it."""
    cleanup._cleaned[project.pk] = (clock.now(), cleanup.EVERY)
    return project


@pytest.fixture
def index_is_kept(apollo: Project) -> Iterator[None]:
    """Asserts after the test that the search index of apollo equals its rows."""
    yield
    if Project.objects.filter(pk=apollo.pk).exists():
        index_is_right(apollo)


@pytest.fixture
def ada(apollo: Project) -> Caller:
    return Caller(project=apollo, agent="ada")


@pytest.fixture
def ben(apollo: Project) -> Caller:
    return Caller(project=apollo, agent="ben")


@pytest.fixture
def cy(hermes: Project) -> Caller:
    return Caller(project=hermes, agent="cy")


@pytest.fixture(scope="session")
def _running_hub(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveHub]:
    with running_hub() as hub:
        yield hub
    with django_db_blocker.unblock():
        end_other_connections()


@pytest.fixture
def hub(_running_hub: LiveHub, transactional_db: None) -> LiveHub:
    """A real server on a real port: writes of the test are committed, and removed after it."""
    return _running_hub


@pytest.fixture
def ada_token(hub: LiveHub, apollo: Project) -> str:
    return create_token(project=apollo, agent="ada", scopes=["read", "write", "admin"]).secret


@pytest.fixture
def ben_token(hub: LiveHub, apollo: Project) -> str:
    return create_token(project=apollo, agent="ben", scopes=["read", "write"]).secret


@pytest.fixture
def cy_token(hub: LiveHub, hermes: Project) -> str:
    return create_token(project=hermes, agent="cy", scopes=["read", "write", "admin"]).secret


@pytest.fixture
def ada_mcp(hub: LiveHub, ada_token: str) -> McpClient:
    return hub.mcp(ada_token)


@pytest.fixture
def ben_mcp(hub: LiveHub, ben_token: str) -> McpClient:
    return hub.mcp(ben_token)


@pytest.fixture
def cy_mcp(hub: LiveHub, cy_token: str) -> McpClient:
    return hub.mcp(cy_token)


@pytest.fixture
def ada_rest(hub: LiveHub, ada_token: str) -> RestClient:
    return hub.rest(ada_token, project="apollo")


@pytest.fixture
def ben_rest(hub: LiveHub, ben_token: str) -> RestClient:
    return hub.rest(ben_token, project="apollo")


@pytest.fixture
def cy_rest(hub: LiveHub, cy_token: str) -> RestClient:
    return hub.rest(cy_token, project="hermes")


# -- Many agents at once ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def executor(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Executor]:
    """A process for each of the AGENTS that the module of the tests names."""
    with django_db_blocker.unblock(), processes(request.module.AGENTS) as running:
        yield running


@pytest.fixture(params=["over HTTP", "in processes"])
def crowd(request: pytest.FixtureRequest, hub: LiveHub, executor: Executor, apollo: Project) -> Crowd:
    if request.param == "in processes":
        return in_processes(executor, apollo)
    token = create_token(project=apollo, name="crowd", scopes=["read", "write", "admin"])
    return over_http(hub, token.secret)
