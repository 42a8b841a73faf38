"""A database whose disk is full or read-only: each face says so, and reads go on."""

import errno
from collections.abc import Iterator

import pytest
from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import reverse

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit import failures
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import UNWRITABLE, failure_of, is_unwritable
from ctxhub.core.models import Project
from ctxhub.management.refusals import as_command_errors
from ctxhub.mcp.refusals import status_of
from memory.decisions.services import set_decision
from tests.people import superuser

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bearer(apollo: Project) -> dict[str, str]:
    secret = create_token(project=apollo, agent="ada", scopes=["read", "write"]).secret
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def unwritable(ada: Caller, bearer: dict[str, str]) -> Iterator[None]:
    """The connection of this test refuses every write."""
    set_decision(caller=ada, key="kept", value="x")
    _make_writable(False)
    yield
    _make_writable(True)
    failures._unwritable_at.clear()


def _make_writable(is_writable: bool) -> None:
    if connection.vendor == "postgresql":
        _run(f"SET default_transaction_read_only = {'off' if is_writable else 'on'}")
    else:
        _run(f"PRAGMA query_only = {'off' if is_writable else 'on'}")


def _run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_rest_answers_503_and_still_reads(
    unwritable: None, bearer: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    url = "/api/v1/projects/apollo/decisions/"
    body = {"key": "k", "value": "x"}
    answer = Client().post(url, body, content_type="application/json", headers=bearer)
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert (answer.json()["error"], answer.json()["message"]) == ("internal", UNWRITABLE)
    assert all("\n" not in record.getMessage() and not record.exc_info for record in caplog.records)
    assert Client().get(f"{url}?key=kept", headers=bearer).status_code == 200


def test_mcp_says_so(unwritable: None, ada: Caller) -> None:
    with pytest.raises(DatabaseError) as caught:
        set_decision(caller=ada, key="k", value="x")
    assert status_of(caught.value) == 503
    body = failure_of(caught.value).body()
    assert (body["error"], body["message"], body["retry_after"]) == ("internal", UNWRITABLE, 30)


def test_a_command_says_so(unwritable: None, ada: Caller) -> None:
    with pytest.raises(CommandError, match="full or read-only"), as_command_errors():
        set_decision(caller=ada, key="k", value="x")


def test_the_hub_is_not_ready_while_writes_fail(unwritable: None, ada: Caller) -> None:
    with pytest.raises(DatabaseError) as caught:
        set_decision(caller=ada, key="k", value="x")
    failures.log_failure("a write", caught.value)
    assert Client().get("/readyz").json()["writable"] is False
    assert Client().get("/healthz").status_code == 200
    failures._unwritable_at.clear()
    _make_writable(True)
    assert Client().get("/readyz").status_code == 200


NO_MEMBERSHIPS = {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
WRITES_OF_ADMIN = {
    "core_tag_add": {"name": "new"},
    "auth_user_add": {"username": "eve", "usable_password": "false", **NO_MEMBERSHIPS},
    "memory_decision_add": {"key": "k", "value": "x", "kind": "text", "status": "active", "seen_revision": 0},
    "core_project_add": {"slug": "new", **NO_MEMBERSHIPS},
}


@pytest.mark.parametrize("page", WRITES_OF_ADMIN)
def test_a_page_of_the_admin_says_so(ada: Caller, page: str) -> None:
    client = superuser()
    address = f"{reverse(f'admin:{page}')}?project=apollo"
    client.get(address)
    _make_writable(False)
    try:
        answer = client.post(address, WRITES_OF_ADMIN[page])
        read = client.get(reverse("admin:memory_decision_changelist"))
    finally:
        _make_writable(True)
        failures._unwritable_at.clear()
    assert answer.status_code == 503
    assert UNWRITABLE in answer.content.decode()
    assert read.status_code == 200
    # The same form, on a database that can be written.
    assert client.post(address, WRITES_OF_ADMIN[page]).status_code == 302


def test_signing_in_says_so(ada: Caller) -> None:
    superuser()
    _make_writable(False)
    try:
        answer = Client().post("/admin/login/", {"username": "root", "password": "wrong"})
    finally:
        _make_writable(True)
        failures._unwritable_at.clear()
    assert answer.status_code == 503
    assert UNWRITABLE in answer.content.decode()


def test_a_full_sqlite_file_is_unwritable(ada: Caller) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite alone can be given a size.")
    try:
        _run("VACUUM")  # No free page is left of what earlier tests wrote.
        _run("PRAGMA max_page_count = 1")  # As many as it has.
        with pytest.raises(DatabaseError) as caught:
            set_decision(caller=ada, key="k", value="x" * 60_000)
    finally:
        _run("PRAGMA max_page_count = 1073741823")
    assert is_unwritable(caught.value)


def test_a_command_says_that_the_disk_is_full() -> None:
    """As static files are written, which the error does not name."""
    with pytest.raises(CommandError, match="disk is full"), as_command_errors():
        raise OSError(errno.ENOSPC, "No space left on device")
