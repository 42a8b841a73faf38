"""The cast: Ada and Ben work in the project apollo, Cy works elsewhere and sees nothing of it."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

from ctxhub.core.accounts.services import agents, visitors
from ctxhub.core.accounts.services.access_tokens import create_token, forget_tokens
from ctxhub.core.accounts.services.projects import create_project
from ctxhub.core.events.services import cleanup as retention
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from tests.databases import end_other_connections
from tests.emptying import empty_database, vacuum
from tests.hub import LiveHub, McpClient, RestClient, running_hub
from tests.search_index import index_is_right

FOLDER = Path(__file__).parent
# Their files are few and long: begun last, they would keep one processor busy while the others wait.
FIRST = [FOLDER / "sqlew", FOLDER / "e2e", FOLDER / "mcp"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """PostgreSQL gets what touches a database; the rest was run on SQLite and would do the same again."""
    items.sort(key=lambda item: not any(item.path.is_relative_to(folder) for folder in FIRST))
    if settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
        again = [item for item in items if not _touches_database(item)]
        config.hook.pytest_deselected(items=again)
        items[:] = [item for item in items if item not in set(again)]


def _touches_database(item: pytest.Item) -> bool:
    fixtures = {"db", "transactional_db", "django_db_setup"}
    is_marked = item.get_closest_marker("django_db") is not None
    uses = is_marked or not fixtures.isdisjoint(getattr(item, "fixturenames", ()))
    return uses and item.get_closest_marker("one_engine") is None


def pytest_collection_finish() -> None:
    """Thousands of tests stay in memory: looking for garbage among them took a twentieth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(autouse=True, scope="session")
def _emptied_quickly() -> Iterator[None]:
    """Behind a test that commits Django's `flush` and new connections took a third of the suite."""
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
def nothing_remembered() -> None:
    """Tests roll back, so ids come again: what the process remembers of them must go."""
    forget_tokens()
    agents._touched.clear()
    retention._cleaned.clear()
    visitors._looked.clear()


@pytest.fixture
def apollo(db: None) -> Project:
    return create_project(slug="apollo")


@pytest.fixture
def hermes(db: None) -> Project:
    return create_project(slug="hermes")


@pytest.fixture
def index_is_kept(apollo: Project) -> Iterator[None]:
    """Whatever a test does to apollo, the index says behind it what there is."""
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
    """A real server on a real port: what a test writes is committed, and removed after it."""
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
