"""A write whose connection to the database is lost: the answer says whether it may have been done."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import AWAY, MAY_BE_DONE, NOTHING_WRITTEN, failure_of
from ctxhub.core.kit.outcomes import telling_outcome
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Project
from memory.models import Decision
from tests.hub import LiveHub, McpClient, Reply
from tests.people import superuser

pytestmark = pytest.mark.django_db(transaction=True)
SET = {"action": "set", "key": "k", "value": "x"}


def set_over_mcp(client: McpClient, **meta: str) -> Reply:
    params = {"name": "decision", "arguments": SET, **({"_meta": meta} if meta else {})}
    return client.send("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def messages(hub: LiveHub, token: str) -> list[str]:
    """What a failed write over MCP and over REST says."""
    over_mcp = set_over_mcp(hub.mcp(token))
    over_rest = hub.rest(token).post("decisions/", {"key": "k", "value": "x"})
    for reply in (over_mcp, over_rest):
        assert (reply.status, reply.headers["retry-after"]) == (503, "5")
    return [over_mcp.body["error"]["data"]["message"], over_rest.body["message"]]


# -- PostgreSQL ends the connection -------------------------------------------------------------------

ENDS_ITSELF = """
    CREATE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER end_connection AFTER INSERT ON memory_decision
        DEFERRABLE INITIALLY {when} FOR EACH ROW EXECUTE FUNCTION end_connection()"""


@pytest.fixture
def ends(request: pytest.FixtureRequest, apollo: Project) -> Iterator[None]:
    """The server ends each connection that inserts a decision: at its COMMIT, or at the statement."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no connection that could be lost.")
    with connection.cursor() as cursor:
        cursor.execute(ENDS_ITSELF.format(when=request.param))
        yield
        cursor.execute("DROP FUNCTION end_connection() CASCADE")


@pytest.mark.parametrize("ends", ["DEFERRED"], indirect=True)
def test_a_connection_lost_in_commit_may_have_written(hub: LiveHub, ada_token: str, ends: None) -> None:
    for message in messages(hub, ada_token):
        assert message == f"{AWAY} {MAY_BE_DONE}"


@pytest.mark.parametrize("ends", ["IMMEDIATE"], indirect=True)
def test_a_connection_lost_before_commit_has_written_nothing(
    hub: LiveHub, ada_token: str, ends: None
) -> None:
    for message in messages(hub, ada_token):
        assert message == f"{AWAY} {NOTHING_WRITTEN}"
    assert not Decision.unscoped.exists()


# -- The answer of a commit is lost -------------------------------------------------------------------


@pytest.fixture
def lose_answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, the next commit is done, and its answer does not come."""
    commit = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]

    def lose(self: Any) -> None:
        commit(self)
        monkeypatch.undo()
        raise OperationalError("server closed the connection unexpectedly")

    return lambda: monkeypatch.setattr(BaseDatabaseWrapper, "_commit", lose)


def test_a_write_that_was_done_is_not_called_undone_and_can_be_repeated(
    ada_mcp: McpClient, apollo: Project, lose_answer: Callable[[], None]
) -> None:
    meta = {"ctxhub/request_id": "r1"}
    ada_mcp.call("decision", "list")  # Notes the use of the token.
    lose_answer()
    reply = set_over_mcp(ada_mcp, **meta)
    error = reply.body["error"]["data"]
    assert (reply.status, MAY_BE_DONE in error["message"]) == (503, True)
    assert "ctxhub/request_id" in error["hint"]
    assert Decision.objects.in_project(apollo).filter(key="k").exists()
    [text] = set_over_mcp(ada_mcp, **meta).body["result"]["content"]
    assert '"result":"created"' in text["text"]


def test_a_page_says_so(ada: Caller, lose_answer: Callable[[], None]) -> None:
    client = superuser()
    address = "/admin/memory/decision/add/?project=apollo"
    client.get(address)
    lose_answer()
    form = {"key": "k", "value": "x", "kind": "text", "status": "active", "seen_revision": 0}
    answer = client.post(address, form)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert MAY_BE_DONE in answer.content.decode()


def test_a_call_that_failed_after_its_write_does_not_say_that_nothing_was_written(apollo: Project) -> None:
    def write_and_fail() -> None:
        with write_transaction(apollo.pk):
            pass
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="bug") as caught, telling_outcome():
        write_and_fail()
    assert failure_of(caught.value).message == f"The hub failed; its log says why. {MAY_BE_DONE}"


def test_a_call_that_failed_without_a_write_says_so() -> None:
    with pytest.raises(ValueError, match="bug") as caught, telling_outcome():
        raise ValueError("a bug")
    assert failure_of(caught.value).message == f"The hub failed; its log says why. {NOTHING_WRITTEN}"
