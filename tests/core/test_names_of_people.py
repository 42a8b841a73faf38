"""Nobody writes as a person: names of members and superusers are refused to agents, however they arrive."""

from collections.abc import Callable
from functools import partial
from threading import Barrier, Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.names_of_people import forget_names, name_key
from ctxhub.core.accounts.people import find_clashes, find_person, give_to_person
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotAllowed
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent, Membership, Project
from ctxhub.management.commands.runmcp import admission, find_caller
from ctxhub.management.first_user import ensure_superuser
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from memory.models import Decision
from messaging.messages.services import send_message
from tests.hub import LiveHub
from tests.messaging.mail import texts
from tests.people import ADMIN, person
from tests.stdio import stdio_hub
from tests.timing import PATIENCE_SECONDS

GET = {"action": "get", "key": "api/auth"}
SET = {"action": "set", "key": "api/auth", "value": "JWT"}


@pytest.fixture
def grace(apollo: Project) -> User:
    return person("grace", apollo)


def agents(project: Project) -> dict[str, str]:
    rows = Agent.objects.in_project(project)
    return {row.name: row.get_kind_display() for row in rows}


def caller(project: Project, agent: str, **fields: Any) -> Caller:
    return Caller(project=project, agent=agent, **fields)


# -- However a name arrives ------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [GET, SET])
@pytest.mark.parametrize("name", ["grace", "GRACE", " Grace ", "ｇｒａｃｅ"])
def test_an_argument_names_no_person(
    name: str, arguments: dict[str, str], apollo: Project, grace: User
) -> None:
    with pytest.raises(NotAllowed, match=r"name of a person here.*'.*-agent'"):
        call(caller(apollo, "codex"), "decision", {**arguments, "agent": name})
    assert not Decision.objects.in_project(apollo).exists()
    assert name_key(name) == "grace"
    assert "grace" not in {name_key(each) for each in agents(apollo)}


@pytest.mark.parametrize("name", ["gr\u00adace", "gra\u200dce", "gra\u2060ce"])
def test_an_argument_looks_like_no_person(name: str, apollo: Project, grace: User) -> None:
    with pytest.raises(InvalidInput, match="agent holds U"):
        call(caller(apollo, "codex"), "decision", {**SET, "agent": name})
    with pytest.raises(NotAllowed, match="name of a person"):
        call(caller(apollo, "codex"), "decision", {**SET, "agent": "\ufeffgrace\u00ad"})
    assert name_key(name) == "grace"
    assert not Decision.objects.in_project(apollo).exists()


def test_the_sentence_has_a_name_that_is_free(apollo: Project, grace: User) -> None:
    for _ in range(2):
        with pytest.raises(NotAllowed) as refused:
            call(caller(apollo, "grace"), "decision", SET)
        free = refused.value.message.rsplit("'", 2)[1]
        call(caller(apollo, free), "decision", SET)
    assert {"grace-agent", "grace-agent-2"} <= {*agents(apollo)}


def test_a_long_name_has_a_free_one_that_is_as_long_as_a_name_may_be(apollo: Project) -> None:
    person("g" * 120, apollo)
    with pytest.raises(NotAllowed) as refused:
        call(caller(apollo, "G" * 100), "decision", SET)
    assert refused.value.message.rsplit("'", 2)[1] == "G" * 94 + "-agent"


def test_the_person_acts_under_the_name(apollo: Project, grace: User) -> None:
    found = find_person(grace, "apollo")
    assert found
    set_decision(caller=found, key="api/auth", value="JWT")
    assert agents(apollo)["grace"] == "human"


def test_a_superuser_is_a_person_of_every_project(apollo: Project, hermes: Project) -> None:
    User.objects.create_superuser("root")
    for project in (apollo, hermes):
        with pytest.raises(NotAllowed):
            call(caller(project, "Root"), "decision", SET)


def test_a_member_of_another_project_is_no_person_here(hermes: Project, apollo: Project) -> None:
    person("cleo", hermes)
    call(caller(apollo, "cleo"), "decision", SET)
    assert agents(apollo)["cleo"] == "agent"


def test_who_has_written_as_a_person_stays_one(apollo: Project, grace: User) -> None:
    found = find_person(grace, "apollo")
    assert found
    set_decision(caller=found, key="api/auth", value="JWT")
    grace.delete()
    with pytest.raises(NotAllowed):
        call(caller(apollo, "grace"), "decision", GET)


def test_the_name_of_a_token_is_no_persons_either(apollo: Project) -> None:
    new = create_token(project=apollo, name="grace")
    person("grace", apollo)
    with pytest.raises(NotAllowed):
        call(caller(apollo, new.row.name), "decision", SET)
    call(caller(apollo, new.row.name), "decision", {**SET, "agent": "codex"})


@pytest.mark.parametrize("fields", [{"agent": "grace"}, {"name": "Grace"}])
def test_no_token_is_made_for_a_person(fields: dict[str, Any], apollo: Project, grace: User) -> None:
    with pytest.raises(NotAllowed, match=r"(?i)'grace-agent'"):
        create_token(project=apollo, **fields)
    assert "grace" not in agents(apollo)


def test_a_name_of_a_token_may_be_a_persons_if_the_agent_is_not(apollo: Project, grace: User) -> None:
    assert create_token(project=apollo, name="grace", agent="grace-laptop").row.name == "grace"


def test_stdio_refuses_it_at_the_start(apollo: Project, grace: User) -> None:
    with pytest.raises(NotAllowed, match="grace-agent"):
        find_caller("apollo", "grace", "")
    with pytest.raises(NotAllowed, match="grace-agent"):
        admission("apollo", "grace", "")
    person("system", apollo)
    with pytest.raises(NotAllowed, match="system-agent"):
        find_caller("apollo", "", "")


def test_being_addressed_registers_nobody(ada: Caller, apollo: Project, grace: User) -> None:
    assert "unknown" not in send_message(caller=ada, text="Hello", to=["grace"])
    assert "grace" not in agents(apollo)


def test_http_refuses_header_query_body_and_argument(hub: LiveHub, apollo: Project) -> None:
    secret = create_token(project=apollo, name="ci").secret
    person("grace", apollo)
    rest = hub.rest(secret)
    header = {"Ctxhub-Agent": "grace"}
    replies = [
        rest.get("decisions/", agent="grace"),
        rest.post("decisions/", {"key": "a", "value": "b", "agent": "grace"}),
        rest.send("GET", "/api/v1/projects/apollo/decisions/", headers=header),
        rest.send("GET", "/api/v1/me/", headers=header),
        rest.post("call/decision/set/", {**SET, "agent": "grace"}),
    ]
    assert {(reply.status, reply.body["error"]) for reply in replies} == {(403, "not_allowed")}
    assert all("grace-agent" in reply.body["message"] for reply in replies)
    mcp = hub.mcp(secret)
    assert "grace-agent" in str(mcp.call("decision", "set", key="a", value="b", agent="grace"))
    assert "grace" not in agents(apollo)


# -- Without a query -------------------------------------------------------------------------------


def test_a_known_agent_costs_no_query(ada: Caller) -> None:
    call(ada, "decision", GET)
    with CaptureQueriesContext(connection) as queries:
        call(ada, "decision", GET)
    assert not [query for query in queries if "auth_user" in query["sql"]]


def test_a_new_member_is_a_person_at_once(apollo: Project) -> None:
    call(caller(apollo, "codex"), "decision", GET)
    person("grace", apollo)
    with pytest.raises(NotAllowed):
        call(caller(apollo, "grace"), "decision", GET)


def test_a_sign_in_forgets_nothing(ada: Caller, grace: User) -> None:
    call(ada, "decision", GET)
    grace.save(update_fields=["last_login"])
    with CaptureQueriesContext(connection) as queries:
        call(ada, "decision", GET)
    assert not [query for query in queries if "auth_user" in query["sql"]]


# -- People who join -------------------------------------------------------------------------------


def test_nobody_joins_under_the_name_of_an_agent(ada: Caller, apollo: Project) -> None:
    call(ada, "decision", SET)
    user = User.objects.create_user("Ada")
    with pytest.raises(Conflict, match="An agent of apollo is called 'ada'"):
        Membership.objects.create(project=apollo, user=user)
    assert not Membership.objects.filter(user=user).exists()


def test_nobody_joins_under_the_name_of_another_member(apollo: Project, grace: User) -> None:
    user = User.objects.create_user("GRACE")
    with pytest.raises(Conflict, match="Somebody is called 'grace'"):
        Membership.objects.create(project=apollo, user=user)


def test_a_member_comes_back_under_their_name(apollo: Project, grace: User) -> None:
    found = find_person(grace, "apollo")
    assert found
    set_decision(caller=found, key="api/auth", value="JWT")
    Membership.objects.all().delete()
    Membership.objects.create(project=apollo, user=grace)


@pytest.mark.django_db(transaction=True)
def test_of_an_agent_and_a_member_at_once_one_has_the_name(apollo: Project) -> None:
    user = User.objects.create_user("grace")
    Agent.objects.in_project(apollo).filter(folded="grace").delete()
    met, refused = Barrier(2), []

    def at_once(act: Callable[[], object]) -> None:
        met.wait(PATIENCE_SECONDS)
        try:
            act()
        except (Conflict, NotAllowed) as error:
            refused.append(error)
        finally:
            connection.close()

    def join() -> None:
        with write_transaction(apollo.pk):
            Membership.objects.create(project=apollo, user=user)

    acts = [join, lambda: set_decision(caller=caller(apollo, "grace"), key="a", value="b")]
    threads = [Thread(target=at_once, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert len(refused) == 1
    is_agent, is_member = "grace" in agents(apollo), Membership.objects.filter(user=user).exists()
    assert is_agent != is_member


# -- New names -------------------------------------------------------------------------------------


def test_a_renamed_person_keeps_their_agent_and_their_mail(ada: Caller, apollo: Project, grace: User) -> None:
    found = find_person(grace, "apollo")
    assert found
    set_decision(caller=found, key="api/auth", value="JWT")
    send_message(caller=ada, text="For you", to=["grace"])
    grace.username = "hopper"
    grace.save()
    assert agents(apollo) == {"ada": "agent", "hopper": "human"}
    renamed = find_person(grace, "apollo")
    assert renamed
    assert texts(renamed) == ["For you"]
    call(caller(apollo, "grace"), "decision", GET)  # The name is free again.


def test_setup_makes_no_superuser_with_the_name_of_an_agent(
    apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(caller(apollo, "Admin"), "decision", SET)
    monkeypatch.setenv("DJANGO_SUPERUSER_USERNAME", "admin")
    with pytest.raises(CommandError, match="An agent of apollo is called 'Admin'"):
        ensure_superuser(ask=False)
    monkeypatch.delenv("DJANGO_SUPERUSER_USERNAME")
    assert ensure_superuser(ask=False).username == "admin-2"


# -- From before -----------------------------------------------------------------------------------


def clashing(project: Project) -> tuple[User, Agent]:
    """A member with the name of an agent, from before this was refused."""
    call(caller(project, "grace"), "decision", SET)
    user = User.objects.create_user("grace", is_staff=True)
    Membership.objects.bulk_create([Membership(project=project, user=user, role=ADMIN)])
    forget_names()
    return user, Agent.objects.in_project(project).get(folded="grace")


def test_an_unpinned_agent_is_refused_and_listed_until_it_is_settled(apollo: Project) -> None:
    _, agent = clashing(apollo)
    with pytest.raises(NotAllowed, match="'grace-agent'"):
        call(caller(apollo, "grace"), "decision", GET)
    [clash] = find_clashes([apollo.pk])
    assert (clash.username, clash.tokens) == ("grace", ())
    assert "needs another name" in clash.sentence
    give_to_person(agent)
    assert agents(apollo)["grace"] == "human"
    assert not find_clashes([apollo.pk])


def test_a_pinned_token_goes_on_and_is_listed(apollo: Project) -> None:
    token = create_token(project=apollo, agent="grace").row
    clashing(apollo)
    call(caller(apollo, "grace", pinned=True), "decision", SET)
    [clash] = find_clashes()
    assert clash.tokens == (token.pk,)
    assert f"Token {token.pk} is pinned to grace" in clash.sentence


def test_clashes_are_found_in_as_many_queries_as_there_are_kinds(apollo: Project, hermes: Project) -> None:
    for project in (apollo, hermes):
        create_token(project=project, agent="root")
    User.objects.bulk_create([User(username="root", is_superuser=True)])
    with CaptureQueriesContext(connection) as queries:
        assert len(find_clashes()) == 2
    assert len(queries) == 3


# -- In processes of their own ---------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_running_stdio_server_learns_who_has_joined(apollo: Project) -> None:
    with stdio_hub("--project", "apollo", "--agent", "codex") as client:
        client.start()
        assert client.call("decision", "set", key="a", value="b")["result"] == "created"
        assert not client.call("decision", "get", key="a", agent="grace").get("error")
        Agent.objects.in_project(apollo).filter(folded="grace").delete()
        person("grace", apollo)
        refused = client.call("decision", "set", key="a", value="c", agent="Grace")
        assert (refused["error"], "'Grace-agent'" in refused["message"]) == ("not_allowed", True)
    with stdio_hub("--project", "apollo", "--agent", "grace") as client:
        _, errors, code = client.finish()
    assert (code, b"'grace-agent'" in errors, b"Traceback" in errors) == (1, True, False)


def test_no_superuser_is_created_with_the_name_of_an_agent(
    apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    Agent.objects.create(project=apollo, name="claude", folded="claude")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "correct-horse-battery")
    create = partial(call_command, "createsuperuser", "--no-input", "--email", "a@example.com")
    with pytest.raises(CommandError, match="An agent of apollo is called 'claude'"):
        create("--username", "Claude")
    create("--username", "root")
    assert [user.username for user in User.objects.all()] == ["root"]
