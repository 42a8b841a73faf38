"""Refusals are counted once on each face, and shown by REST and the admin."""

from typing import Any

import pytest
from django.test import Client

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotAllowed
from ctxhub.core.models import Project, Refusal
from ctxhub.core.refusals.services import WRITER, count_refusal
from memory.decisions.services import set_decision
from memory.models import Decision
from tests.hub import LiveHub, McpClient, RestClient
from tests.people import ADMIN, VIEWER, member, superuser
from tracking.leases.services import acquire_lease

LIST = "/admin/core/refusal/"


def counted() -> set[tuple[str, str, str, int]]:
    WRITER.flush()
    return set(Refusal.unscoped.values_list("name", "ref", "code", "count"))


@pytest.fixture
def lease(ada: Caller) -> str:
    return f"lease:{acquire_lease(caller=ada, paths=['src/**'])['lease_id']}"


@pytest.fixture
def decision(ada: Caller) -> Decision:
    set_decision(caller=ada, key="api/auth", value="jwt")
    return Decision.unscoped.get()


def token(project: Project, *scopes: str) -> str:
    return create_token(project=project, name="ro", agent="ro", scopes=scopes).secret


# -- MCP and REST ----------------------------------------------------------------------------------


def test_mcp_counts_leases_versions_and_scopes(
    hub: LiveHub, apollo: Project, ben_mcp: McpClient, lease: str, decision: Decision
) -> None:
    assert ben_mcp.call("file", "lease", paths=["src/a.py"])["error"] == "conflict"
    old = {"key": "api/auth", "value": "x", "expected_version": "0.9"}
    assert ben_mcp.call("decision", "set", **old)["error"] == "conflict"
    reader = hub.mcp(token(apollo, "read"))
    assert reader.call("decision", "set", key="api/auth", value="x")["error"] == "not_allowed"
    assert counted() == {
        ("ben", lease, "conflict", 1),
        ("ben", "decision:api/auth", "conflict", 1),
        ("ro", "decision:api/auth", "not_allowed", 1),
    }


def test_rest_counts_leases_versions_and_scopes(
    hub: LiveHub, apollo: Project, ben_rest: RestClient, lease: str, decision: Decision
) -> None:
    assert ben_rest.post("leases/", {"paths": ["src/a.py"]}).status == 409
    assert ben_rest.patch("decisions/api/auth/", {"value": "x"}, {"If-Match": '"0.9"'}).status == 412
    body = {"key": "api/auth", "value": "x", "expected_version": "0.8"}
    assert ben_rest.post("decisions/", body).status == 409
    reader = hub.rest(token(apollo, "read"))
    assert reader.patch("decisions/api/auth/", {"value": "x"}).status == 403
    assert reader.post("messages/", {"text": "x"}).status == 403
    assert counted() == {
        ("ben", lease, "conflict", 1),
        ("ben", "decision:api/auth", "conflict", 2),
        ("ro", "decision:api/auth", "not_allowed", 1),
        ("ro", "", "not_allowed", 1),
    }


def test_rest_counts_an_operation_once_and_for_the_agent_that_speaks(
    hub: LiveHub, apollo: Project, decision: Decision
) -> None:
    reader = hub.rest(create_token(project=apollo, name="ro", scopes=["read"]).secret)
    path, body = "call/decision/set/", {"key": "api/auth", "value": "x"}
    assert reader.post(path, {**body, "agent": "eve"}).status == 403
    assert reader.post(path, body, {"Ctxhub-Agent": "dan"}).status == 403
    assert reader.delete("decisions/api/auth/", {"Ctxhub-Agent": "dan"}).status == 403
    assert counted() == {
        ("eve", "decision:api/auth", "not_allowed", 1),
        ("dan", "decision:api/auth", "not_allowed", 2),
    }


def test_calls_without_access_are_counted_nowhere(
    hub: LiveHub, cy_rest: RestClient, hermes: Project, lease: str
) -> None:
    assert cy_rest.get("/api/v1/projects/apollo/refusals/").status == 404
    assert cy_rest.post("/api/v1/projects/apollo/leases/", {"paths": ["src/a.py"]}).status == 404
    assert hub.rest("wrong").get("refusals/").status == 401
    assert counted() == set()


def test_rest_lists_them_for_readers_of_the_project(
    hub: LiveHub, apollo: Project, ben_rest: RestClient, cy_rest: RestClient, lease: str
) -> None:
    ben_rest.post("leases/", {"paths": ["src/a.py"]})
    WRITER.flush()
    body = ben_rest.get("refusals/", by="BEN", ref=lease, code="conflict", since="1h").body
    [item] = body["items"]
    assert (item["agent"], item["ref"], item["code"], item["count"]) == ("ben", lease, "conflict", 1)
    assert item["note"].startswith("src/** is leased by 'ada' until")
    assert (body["total"], ben_rest.get("refusals/", until="1h").body["items"]) == (1, [])
    assert cy_rest.get("refusals/").body["items"] == []
    writer = hub.rest(token(apollo, "write"))
    assert writer.get("refusals/").status == 403


# -- Admin -----------------------------------------------------------------------------------------


def test_a_person_is_counted_who_saves_an_old_version(
    apollo: Project, ada: Caller, decision: Decision
) -> None:
    client, url = member(apollo), f"/admin/memory/decision/{decision.pk}/change/"
    form = client.get(url).context["adminform"].form
    fields = {name: form[name].value() for name in form.fields}
    set_decision(caller=ada, key="api/auth", value="mtls")
    response = client.post(url, {**fields, "value": "basic"})
    assert "while you were editing it" in response.content.decode()
    assert counted() == {("vi", "decision:api/auth", "conflict", 1)}


def test_a_person_is_counted_whose_role_does_not_allow_it(
    apollo: Project, hermes: Project, decision: Decision
) -> None:
    viewer, url = member(apollo, VIEWER, "wil"), f"/admin/memory/decision/{decision.pk}"
    viewer.get(f"{url}/change/")
    assert counted() == set()
    assert viewer.post(f"{url}/change/", {"value": "x"}).status_code == 403
    assert viewer.post(f"{url}/delete/", {"post": "yes"}).status_code == 403
    viewer.post(f"{url}/deprecate/", {"confirmed": "1"})
    viewer.post("/admin/memory/decision/add/?project=apollo", {"key": "k", "value": "v"})
    member(hermes, ADMIN, "max").post(f"{url}/change/", {"value": "x"})
    assert counted() == {
        ("wil", "decision:api/auth", "not_allowed", 3),
        ("wil", "", "not_allowed", 1),
    }


@pytest.fixture
def refused(ada: Caller, ben: Caller, cy: Caller, lease: str, decision: Decision) -> str:
    for ref in (lease, "decision:api/auth"):
        for caller in (ben, ben, cy):
            count_refusal(caller, NotAllowed("You may not."), ref)
    WRITER.flush()
    return lease


def shown(client: Client, url: str, **query: Any) -> str:
    response = client.get(url, query, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_shows_them_and_nobody_changes_them(apollo: Project, refused: str) -> None:
    client = member(apollo, ADMIN)
    text = shown(client, LIST)
    for part in ("ben", refused, "decision:api/", "not_allowed", "You may not."):
        assert part in text
    rows = client.get(LIST).context["cl"].result_list
    assert {row.project.slug for row in rows} == {"apollo"}
    url = f"{LIST}{rows[0].pk}/change/"
    assert "You may not." in shown(client, url)
    for path in (f"{LIST}add/", url, f"{LIST}{rows[0].pk}/delete/"):
        assert client.post(path, {"post": "yes"}).status_code == 403
    assert Refusal.unscoped.filter(name="ben").count() == 2


@pytest.mark.parametrize(
    ("query", "count"),
    [({"agent": "BEN"}, 2), ({"agent": "eve"}, 0), ({"code": "conflict"}, 0), ({"q": "decision:api"}, 1)],
    ids=str,
)
def test_the_list_is_narrowed(apollo: Project, refused: str, query: dict[str, str], count: int) -> None:
    assert len(member(apollo).get(LIST, query).context["cl"].result_list) == count


def test_a_stranger_sees_none(hermes: Project, refused: str) -> None:
    client = member(hermes)
    assert [row.name for row in client.get(LIST).context["cl"].result_list] == ["cy", "cy"]
    other = Refusal.unscoped.filter(name="ben").first()
    assert other
    assert "You may not." not in shown(client, f"{LIST}{other.pk}/change/")


def test_the_pages_of_the_decision_and_the_lease_say_so(
    apollo: Project, refused: str, decision: Decision
) -> None:
    client = member(apollo)
    text = shown(client, f"/admin/memory/decision/{decision.pk}/")
    assert "Refused 2 times" in text
    assert f"{LIST}?project=apollo&amp;q=decision%3Aapi%2Fauth" in text
    lease = shown(client, f"/admin/tracking/lease/{refused.split(':')[1]}/change/")
    assert '2 times</a>, last <span class="ctx-agent">ben</span>' in lease  # Nobody registered ben.


def test_a_superuser_of_no_project_sees_all(refused: str) -> None:
    assert len(superuser().get(LIST).context["cl"].result_list) == 4
