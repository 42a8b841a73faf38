"""Export and import over REST."""

import json
from pathlib import Path

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.models import Project
from ctxhub.rest import transfer
from memory.models import Decision
from tests.hub import LiveHub, RestClient
from tests.transfer.world import export_of, objects_in

LINES = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
def empty(hub: LiveHub) -> RestClient:
    """An empty project, as its administrator's token."""
    project = create_project(slug="empty")
    token = create_token(project=project, agent="dora", scopes=["read", "write", "admin"])
    return hub.rest(token.secret, project="empty")


def exported(rest: RestClient, **query: object) -> list[bytes]:
    """The lines of an export, as they came."""
    reply = rest.send("GET", rest._url("export/", query))
    assert reply.status == 200, reply
    assert reply.headers["content-type"] == "application/x-ndjson"
    return [line.encode() + b"\n" for line in str(reply.body).split("\n")[:-1]]


def test_from_one_project_to_another(full: Project, ada_rest: RestClient, empty: RestClient) -> None:
    lines = exported(ada_rest)
    assert objects_in(lines) == objects_in(export_of(full))
    dry = empty.send("POST", empty._url("import/", {"dry_run": True}), b"".join(lines), LINES)
    assert (dry.status, dry.body["dry_run"], dry.body["new"]["decision"]) == (200, True, 3)
    assert empty.get("decisions/").body["count"] == 0
    done = empty.send("POST", empty._url("import/"), b"".join(lines), LINES)
    assert (done.status, done.body["new"]["memory"], done.body["conflicts"]) == (200, 2, [])
    assert empty.get("decisions/db%2Fengine/").status in (200, 404)
    assert objects_in(exported(empty)) == objects_in(lines)
    with_log = exported(empty, with_log=True)
    assert json.loads(with_log[0])["counts"]["event"] >= 1


def test_conflicts_are_named(full: Project, ada_rest: RestClient) -> None:
    body = b"".join(exported(ada_rest))
    ada_rest.send("POST", ada_rest._url("decisions/"), {"key": "limit", "value": 9})
    refused = ada_rest.send("POST", ada_rest._url("import/"), body, LINES)
    assert (refused.status, refused.body["error"]) == (409, "conflict")
    assert "decision:limit" in refused.body["conflicts"]
    skipped = ada_rest.send("POST", ada_rest._url("import/", {"on_conflict": "skip"}), body, LINES)
    assert (skipped.status, skipped.body["skipped"]) == (200, {"decision": 1})
    replaced = ada_rest.send("POST", ada_rest._url("import/", {"on_conflict": "replace"}), body, LINES)
    assert (replaced.status, replaced.body["replaced"]) == (200, {"decision": 1})
    assert Decision.objects.in_project(full).get(key="limit").value == "7.25"


def test_a_request_key_is_one_file(full: Project, ada_rest: RestClient, empty: RestClient) -> None:
    body = b"".join(exported(ada_rest))
    headers = {**LINES, "Idempotency-Key": "k1"}
    first = empty.send("POST", empty._url("import/"), body, headers)
    again = empty.send("POST", empty._url("import/"), body, headers)
    assert (first.status, again.status, again.body) == (200, 200, first.body)
    assert first.body["new"]["decision"] == 3
    other = empty.send("POST", empty._url("import/"), body[:100], headers)
    assert (other.status, other.body["error"]) == (409, "conflict")


def test_bad_files_name_the_line(full: Project, ada_rest: RestClient) -> None:
    lines = exported(ada_rest)
    for body, line in ((b"", 1), (b"nonsense", 1), (b"".join(lines[:5]), 6), (b"{}\n", 1)):
        refused = ada_rest.send("POST", ada_rest._url("import/"), body, LINES)
        assert (refused.status, refused.body["error"], refused.body["line"]) == (400, "invalid", line)
    assert ada_rest.send("POST", ada_rest._url("import/"), {"a": 1}).status == 400
    bad = ada_rest.send("POST", ada_rest._url("import/", {"on_conflict": "merge"}), b"x", LINES)
    assert (bad.status, "replace" in bad.body["message"]) == (400, True)


def test_only_administrators_of_the_project(
    full: Project, ada_rest: RestClient, ben_rest: RestClient, cy_rest: RestClient
) -> None:
    body = b"".join(exported(ada_rest))
    stranger = RestClient(cy_rest.port, cy_rest.token, project="apollo")
    nobody = RestClient(cy_rest.port, None, project="apollo")
    for rest, status in ((ben_rest, 403), (stranger, 404), (nobody, 401)):
        assert rest.get("export/").status == status
        assert rest.send("POST", rest._url("import/"), body, LINES).status == status


def test_what_is_too_large_names_the_command(
    full: Project, ada_rest: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b"".join(exported(ada_rest))
    monkeypatch.setattr(transfer, "MOST_BYTES", 2_000)
    for reply in (ada_rest.get("export/"), ada_rest.send("POST", ada_rest._url("import/"), body, LINES)):
        assert (reply.status, reply.body["error"]) == (409, "limit_reached")
        assert "--project apollo" in reply.body["hint"]


def test_a_body_of_50_mib_is_an_administrators(
    hub: LiveHub, ada_rest: RestClient, ben_rest: RestClient
) -> None:
    """Six million bytes are more than any other body may have."""
    body = b"x" * 6_000_000
    assert ada_rest.send("POST", ada_rest._url("import/"), body, LINES).status == 400
    assert ben_rest.send("POST", ben_rest._url("import/"), body, LINES).status == 413


def test_others_write_while_it_runs(
    full: Project, ada_rest: RestClient, ben_rest: RestClient, tmp_path: Path
) -> None:
    """It holds no write slot of its project."""
    body = b"".join(exported(ada_rest))
    done = ada_rest.send("POST", ada_rest._url("import/"), body, LINES)
    assert done.body["same"]["decision"] == 3
    assert ben_rest.send("POST", ben_rest._url("decisions/"), {"key": "x", "value": "y"}).status == 201
