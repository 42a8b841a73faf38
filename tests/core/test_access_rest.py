"""Access over REST: tokens, projects, scopes, agents, roles of people, and request keys."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from ctxhub.core.accounts.access_tokens import create_token, forget_tokens, revoke_token
from ctxhub.core.kit import clock
from ctxhub.core.models import AccessToken, Agent, Event, Membership, Project
from tests.hub import WHOLE, LiveHub, RestClient
from tests.signed_in import sign_in
from tests.tables import dump_written

Role = Membership.Role
DECISION = {"key": "api/auth", "value": "JWT"}


def new_client(hub: LiveHub, project: Project, **token: object) -> RestClient:
    return hub.rest(create_token(project=project, **token).secret, project=project.slug)  # type: ignore[arg-type]


def agents(project: Project) -> set[str]:
    return set(Agent.objects.in_project(project).values_list("name", flat=True))


# -- Tokens ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "", "ctx_unknown", "${CTXHUB_TOKEN}", "\xe9"])
def test_a_missing_or_invalid_token_gets_401(hub: LiveHub, apollo: Project, token: str | None) -> None:
    reply = hub.rest(token).get("decisions/")
    assert (reply.status, reply.body["error"]) == (401, "not_allowed")
    assert reply.headers["www-authenticate"].startswith("Bearer")


def test_basic_authentication_is_refused(hub: LiveHub, apollo: Project) -> None:
    reply = hub.rest().send("GET", "/api/v1/projects/", headers={"Authorization": "Basic YTpi"})
    assert reply.status == 401


def test_an_unexpanded_variable_as_a_token_is_explained(hub: LiveHub, apollo: Project) -> None:
    assert "did not fill in" in hub.rest("${CTXHUB_TOKEN}").get("stats/").body["message"]


def test_an_expired_token_is_refused(hub: LiveHub, apollo: Project) -> None:
    client = new_client(hub, apollo, expires_at=clock.now() + timedelta(minutes=1))
    assert client.get("stats/").status == 200
    AccessToken.objects.in_project(apollo).update(expires_at=clock.now() - timedelta(seconds=1))
    forget_tokens()
    reply = client.get("stats/")
    assert (reply.status, reply.body["message"]) == (401, "The token has expired.")


def test_a_revoked_token_is_refused_at_once(hub: LiveHub, apollo: Project) -> None:
    made = create_token(project=apollo)
    client = hub.rest(made.secret)
    assert client.get("stats/").status == 200
    revoke_token(made.row)
    assert client.get("stats/").status == 401


def test_a_refused_token_is_refused_on_the_browsable_page_too(hub: LiveHub, apollo: Project) -> None:
    reply = hub.rest("ctx_unknown").send("GET", "/api/v1/projects/", headers={"Accept": "text/html"})
    assert reply.status == 401


# -- Projects --------------------------------------------------------------------------------------


def test_a_token_opens_its_own_project_only(ada_rest: RestClient, cy_rest: RestClient) -> None:
    ada_rest.post("decisions/", DECISION)
    reply = cy_rest.get("/api/v1/projects/apollo/decisions/")
    assert (reply.status, reply.body["error"]) == (404, "not_found")


# -- Agents ----------------------------------------------------------------------------------------


def test_a_pinned_token_acts_only_as_its_agent(ben_rest: RestClient, apollo: Project) -> None:
    by_header = ben_rest.post("decisions/", DECISION, {"Ctxhub-Agent": "ada"})
    by_body = ben_rest.post("decisions/", {**DECISION, "agent": "ada"})
    by_query = ben_rest.get("decisions/", agent="ada")
    by_call = ben_rest.post("call/decision/set/", {**DECISION, "agent": "ada"})
    assert {r.status for r in (by_header, by_body, by_query, by_call)} == {403}
    assert not Event.objects.in_project(apollo).exists()


def test_a_pinned_token_may_name_its_own_agent(ben_rest: RestClient) -> None:
    assert ben_rest.post("decisions/", {**DECISION, "agent": "Ben"}, WHOLE).body["agent"] == "ben"


def test_an_unpinned_token_acts_as_the_agent_named_in_the_request(hub: LiveHub, apollo: Project) -> None:
    client = new_client(hub, apollo, name="ci")
    assert client.post("decisions/", DECISION, WHOLE).body["agent"] == "ci"
    assert client.patch("decisions/api/auth/", {"value": 1, "agent": "zoe"}).body["agent"] == "zoe"
    assert client.put("decisions/api/auth/", {"value": 2}, {"Ctxhub-Agent": "yan"}).body["agent"] == "yan"
    assert client.patch("decisions/api/auth/?agent=xia", {"value": 3}).body["agent"] == "xia"
    assert agents(apollo) >= {"ci", "zoe", "yan", "xia"}


def test_two_different_agents_in_one_request_are_refused(hub: LiveHub, apollo: Project) -> None:
    client = new_client(hub, apollo)
    reply = client.post("decisions/", {**DECISION, "agent": "zoe"}, {"Ctxhub-Agent": "yan"})
    assert (reply.status, reply.body["error"]) == (400, "invalid")


@pytest.mark.parametrize("agent", ["", " ", "x" * 101, "a\x00b", 5, ["zoe"]])
def test_an_invalid_agent_name_is_refused(hub: LiveHub, apollo: Project, agent: object) -> None:
    reply = new_client(hub, apollo).post("decisions/", {**DECISION, "agent": agent})
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert not Event.objects.in_project(apollo).exists()


def test_a_read_registers_its_agent(hub: LiveHub, apollo: Project) -> None:
    new_client(hub, apollo).get("decisions/", agent="zoe")
    assert "zoe" in agents(apollo)


def test_a_refused_request_registers_no_agent(hub: LiveHub, apollo: Project) -> None:
    new_client(hub, apollo).get("decisions/", agent="zoe", limit=0)
    assert "zoe" not in agents(apollo)


# -- People ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "results"),
    [
        (Role.VIEWER, ["not_allowed", "not_allowed"]),
        (Role.MEMBER, ["deleted", "not_allowed"]),
        (Role.ADMIN, ["deleted", "deleted"]),
    ],
)
def test_a_person_deletes_by_ref_with_the_rights_of_their_role(
    hub: LiveHub, apollo: Project, ada_rest: RestClient, role: Role, results: list[str]
) -> None:
    ada_rest.post("decisions/", DECISION)
    memory = ada_rest.post("memories/", {"title": "t", "content": "c"}).body["id"]
    person = sign_in(hub, "grace", apollo, role)
    asked = {"refs": [f"memory:{memory}", "decision:api/auth"]}
    tried = person.post("call/delete/", {**asked, "dry_run": True})
    assert [row[1] for row in tried.body["rows"]] == results
    done = person.post("call/delete/", asked)
    if role == Role.VIEWER:
        assert done.status == 403
    else:
        assert [row[1] for row in done.body["rows"]] == results


def test_a_superuser_may_do_everything_in_every_project(
    hub: LiveHub, apollo: Project, hermes: Project
) -> None:
    root = sign_in(hub, "root", apollo, is_superuser=True)
    assert root.post("decisions/", DECISION).status == 201
    assert root.delete("/api/v1/projects/apollo/decisions/api/auth/").status == 204
    assert root.get("/api/v1/projects/hermes/stats/").status == 200


def test_a_person_acts_as_the_agent_of_their_username(hub: LiveHub, apollo: Project) -> None:
    person = sign_in(hub, "grace", apollo, Role.MEMBER)
    assert person.post("decisions/", DECISION, WHOLE).body["agent"] == "grace"
    assert Agent.objects.in_project(apollo).get(name="grace").kind == Agent.Kind.HUMAN
    assert person.post("decisions/", {**DECISION, "agent": "ada"}).status == 403


def test_an_inactive_account_is_refused(hub: LiveHub, apollo: Project) -> None:
    person = sign_in(hub, "grace", apollo, Role.ADMIN)
    assert person.get("stats/").status == 200
    User.objects.filter(username="grace").update(is_active=False)
    assert person.get("stats/").status == 401


def test_a_deleted_membership_ends_access_at_once(hub: LiveHub, apollo: Project) -> None:
    person = sign_in(hub, "grace", apollo, Role.ADMIN)
    assert person.get("stats/").status == 200
    apollo.memberships.all().delete()
    assert person.get("stats/").status == 404


def test_a_session_writes_only_with_its_csrf_token(hub: LiveHub, apollo: Project) -> None:
    person = sign_in(hub, "grace", apollo, Role.ADMIN)
    del person.headers["X-CSRFToken"]
    reply = person.post("decisions/", DECISION)
    assert (reply.status, reply.body["error"]) == (403, "not_allowed")
    assert "CSRF" in reply.body["message"]
    assert not Event.objects.in_project(apollo).exists()


def test_the_browsable_page_shows_a_decision(hub: LiveHub, apollo: Project) -> None:
    person = sign_in(hub, "grace", apollo, Role.MEMBER)
    person.post("decisions/", DECISION)
    for path in ("decisions/", "decisions/api/auth/", "call/decision/list/"):
        reply = person.send("GET", f"/api/v1/projects/apollo/{path}", headers={"Accept": "text/html"})
        assert reply.status in (200, 405)
        assert "http://" not in reply.body.replace(hub.url, "").replace("http://www.w3.org", "")


def test_a_browsable_page_is_refused_without_a_valid_token(hub: LiveHub, apollo: Project) -> None:
    for path, status in (("decisions/", 401), ("call/hub/stats/", 405)):
        for token in (None, "ctx_unknown"):
            url = f"/api/v1/projects/apollo/{path}"
            assert hub.http(token).send("GET", url, headers={"Accept": "text/html"}).status == status


# -- Retries ---------------------------------------------------------------------------------------


def test_a_repeated_write_gets_the_first_answer_and_writes_nothing(
    ada_rest: RestClient, apollo: Project
) -> None:
    first = ada_rest.post("decisions/", DECISION, {"Idempotency-Key": "r1"})
    again = ada_rest.post("decisions/", dict(reversed(DECISION.items())), {"Idempotency-Key": "r1"})
    assert (again.status, again.body, again.headers["etag"]) == (201, first.body, first.headers["etag"])
    assert Event.objects.in_project(apollo).count() == 1


def test_agents_do_not_share_request_keys(ada_rest: RestClient, ben_rest: RestClient) -> None:
    ada_rest.post("decisions/", DECISION, {"Idempotency-Key": "r1"})
    reply = ben_rest.post("decisions/", {**DECISION, "value": "other"}, {"Idempotency-Key": "r1"})
    assert (reply.status, reply.body["result"]) == (200, "updated")


def test_a_refused_write_is_not_remembered(ada_rest: RestClient) -> None:
    assert ada_rest.post("decisions/", {"key": "k"}, {"Idempotency-Key": "r1"}).status == 400
    stale = {**DECISION, "expected_version": "9"}
    assert ada_rest.post("decisions/", stale, {"Idempotency-Key": "r1"}).status == 409
    assert ada_rest.post("decisions/", DECISION, {"Idempotency-Key": "r1"}).status == 201


def test_a_repeated_delete_answers_204_again(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", DECISION)
    statuses = [ada_rest.delete("decisions/api/auth/", {"Idempotency-Key": "d"}).status for _ in range(2)]
    assert statuses == [204, 204]


def test_a_used_request_key_with_another_request_is_409(ada_rest: RestClient, apollo: Project) -> None:
    key = {"Idempotency-Key": "r1"}
    ada_rest.post("decisions/", DECISION)
    ada_rest.post("layers/", {"name": "planning"}, key)
    before = dump_written(apollo)
    replies = [
        ada_rest.post("decisions/", DECISION, key),
        ada_rest.post("layers/", {"name": "review"}, key),
        ada_rest.post("call/decision/set/", DECISION, key),
        ada_rest.put("decisions/k/", {"value": 1}, key),
        ada_rest.delete("decisions/api/auth/", key),
    ]
    assert [(reply.status, reply.body["error"]) for reply in replies] == [(409, "conflict")] * 5
    assert all("request id 'r1' was another call's" in reply.body["message"] for reply in replies)
    assert dump_written(apollo) == before


def test_a_request_key_covers_method_path_query_and_precondition(ada_rest: RestClient) -> None:
    for key in ("a", "b"):
        ada_rest.post("decisions/", {"key": key, "value": 1})
    r1, r2, r3 = ({"Idempotency-Key": name} for name in ("r1", "r2", "r3"))
    current, stale = {**r1, "If-Match": '"1.0.0"'}, {**r1, "If-Match": '"0.9"'}
    assert ada_rest.patch("decisions/a/", {"tags": ["x"]}, current).status == 200
    # Not 412: it is refused for its request key, and not for its precondition.
    assert ada_rest.patch("decisions/a/", {"tags": ["x"]}, stale).status == 409
    assert ada_rest.patch("decisions/b/", {"tags": ["x"]}, current).status == 409
    memory = ada_rest.post("memories/", {"title": "t", "content": "c"}, r2).body["id"]
    assert ada_rest.patch(f"memories/{memory}/", {"title": "u"}, r3).status == 200
    assert ada_rest.delete(f"memories/{memory}/", r3).status == 409
    assert ada_rest.delete(f"memories/{memory}/", r2).status == 409
    where = f"memories/{memory}/relationships/?target="
    ada_rest.post(f"memories/{memory}/relationships/", {"target": "decision:a"})
    for target, status in (("decision:a", 204), ("decision:a", 204), ("decision:b", 409)):
        assert ada_rest.delete(f"{where}{target}", {"Idempotency-Key": "q"}).status == status


def test_naming_the_agent_elsewhere_makes_no_other_call(hub: LiveHub, apollo: Project) -> None:
    rest = new_client(hub, apollo, name="ci")
    decision, key = {"key": "k", "value": 1}, {"Idempotency-Key": "r1"}
    first = rest.post("decisions/", {**decision, "agent": "zoe"}, key)
    for path, body, header in (
        ("decisions/?agent=ZOE", decision, {}),
        ("decisions/?format=json", decision, {"Ctxhub-Agent": "zoe"}),
    ):
        assert rest.post(path, body, {**key, **header}).body == first.body
    assert rest.post("decisions/", decision, key).body["result"] == "unchanged"


def test_a_request_key_has_a_maximum_length(ada_rest: RestClient) -> None:
    reply = ada_rest.post("decisions/", DECISION, {"Idempotency-Key": "x" * 201})
    assert (reply.status, reply.body["message"][:15]) == (400, "Idempotency-Key")
