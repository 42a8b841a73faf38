"""Who leaves: the account, the sign-ins and every token that the person made end in one step."""

from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client

from ctxhub.core.accounts.access_tokens import NewToken, create_token, find_token, in_state, verify
from ctxhub.core.accounts.own_tokens import create_own_token, rotate_token
from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import Conflict, Unauthenticated
from ctxhub.core.leavers.leaving import Ended, deactivate_person, what_would_end
from ctxhub.core.models import AccessToken, Agent, Event, Project
from ctxhub.toolbox.dispatch import call
from memory.models import Decision
from tests.people import ADMIN, MEMBER, person, signed_in


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def grace(apollo: Project) -> User:
    return person("grace", apollo, ADMIN)


def own_token(user: User, project: Project) -> NewToken:
    caller = find_person(user, project.slug)
    assert caller is not None
    return create_own_token(caller=caller, owner=user, agent=f"{user.get_username()}-claude")


def is_good(token: NewToken) -> bool:
    try:
        verify(token.secret)
    except Unauthenticated:
        return False
    return True


def may_open(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def test_everything_of_a_leaver_ends_and_what_others_have_stays(
    root: User, grace: User, apollo: Project, hermes: Project
) -> None:
    ben = person("ben", apollo, MEMBER)
    browsers, other = [signed_in(grace), signed_in(grace)], signed_in(ben)
    theirs = [own_token(grace, apollo), create_token(project=hermes, name="ci", created_by=grace)]
    others = [own_token(ben, apollo), create_token(project=apollo, name="ops", created_by=root)]
    assert all(map(is_good, [*theirs, *others]))
    assert what_would_end(grace) == Ended(tokens=2, sign_ins=2)
    assert deactivate_person(grace, by=root) == Ended(tokens=2, sign_ins=2)
    assert [is_good(token) for token in [*theirs, *others]] == [False, False, True, True]
    assert [may_open(client) for client in [*browsers, other]] == [False, False, True]
    grace.refresh_from_db()
    assert not grace.is_active


def test_what_their_agents_saved_stays(root: User, grace: User, apollo: Project) -> None:
    caller = verify(own_token(grace, apollo).secret)
    call(caller, "decision", {"action": "set", "key": "k", "value": "v"})
    deactivate_person(grace, by=root)
    decision = Decision.objects.in_project(apollo).get()
    assert (decision.value, str(decision.agent)) == ("v", "grace-claude")
    assert Agent.objects.in_project(apollo).filter(name="grace-claude").exists()


def test_a_token_that_was_rotated_for_them_ends_as_well(root: User, grace: User, apollo: Project) -> None:
    old = create_token(project=apollo, name="ci", created_by=grace)
    new = rotate_token(old.row, grace=timedelta(days=1))
    assert deactivate_person(grace, by=root).tokens == 2
    assert not is_good(old)
    assert not is_good(new)


def test_ended_tokens_are_not_counted(root: User, grace: User, apollo: Project) -> None:
    create_token(project=apollo, name="ci", created_by=grace, expires_at=clock.now() + timedelta(days=1))
    with time_machine.travel(clock.now() + timedelta(days=2)):
        assert deactivate_person(grace, by=root).tokens == 0


def test_it_is_recorded_in_their_projects(root: User, grace: User, apollo: Project, hermes: Project) -> None:
    create_token(project=hermes, name="ci", created_by=grace)
    deactivate_person(grace, by=root)
    events = Event.unscoped.filter(ref=f"person:{grace.pk}").select_related("agent").order_by("project_id")
    told = [(event.verb, str(event.agent), event.data["note"]) for event in events]
    assert told == [
        ("deactivated", "root", "grace: deactivated, with 0 tokens"),
        ("deactivated", "root", "grace: deactivated, with 1 token"),
    ]


def test_nobody_deactivates_themselves_or_the_only_superuser(root: User, grace: User) -> None:
    for user, by in ((root, root), (root, grace), (root, None)):
        with pytest.raises(Conflict, match=r"yourself|only superuser"):
            deactivate_person(user, by=by)
    User.objects.create_superuser("second")
    deactivate_person(root, by=grace)
    assert not User.objects.get(username="root").is_active


def test_done_again_it_ends_what_came_since(root: User, grace: User, apollo: Project) -> None:
    deactivate_person(grace, by=root)
    token = create_token(project=apollo, name="ci", created_by=grace)
    assert deactivate_person(grace, by=root) == Ended(tokens=1, sign_ins=0)
    assert not is_good(token)


def test_sessions_of_nobody_are_left(root: User, grace: User) -> None:
    Client().get("/invitation/")
    session = Client().session
    session["invitation"] = 1
    session.save()
    signed_in(grace)
    assert deactivate_person(grace, by=root).sign_ins == 1
    assert Session.objects.filter(session_key=session.session_key).exists()


# -- Tokens that nobody uses -----------------------------------------------------------------------


def test_tokens_that_were_not_used_for_90_days_are_unused(apollo: Project) -> None:
    now = clock.now()
    used = {"never": None, "long ago": now - timedelta(days=91), "lately": now - timedelta(days=89)}
    for name, moment in used.items():
        create_token(project=apollo, name=name)
        rows = AccessToken.objects.in_project(apollo).filter(name=name)
        rows.update(last_used_at=moment, created_at=now - timedelta(days=200))
    create_token(project=apollo, name="new")
    ended = create_token(project=apollo, name="revoked").row
    AccessToken.objects.in_project(apollo).filter(pk=ended.pk).update(
        revoked_at=now, created_at=now - timedelta(days=200)
    )
    found = in_state(AccessToken.objects.in_project(apollo), "unused")
    assert {row.name for row in found} == {"never", "long ago"}
    out = StringIO()
    call_command("token", "list", "--unused", stdout=out)
    assert [line.split("  ")[2].partition(":")[0] for line in out.getvalue().splitlines()] == [
        "long ago",
        "never",
    ]


# -- The command -----------------------------------------------------------------------------------


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("person", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_tells_what_would_end_and_ends_it(root: User, grace: User, apollo: Project) -> None:
    token = create_token(project=apollo, name="ci", created_by=grace)
    signed_in(grace)
    assert command("deactivate", "grace", "--dry-run") == "It would end 1 token, 1 sign-in of grace.\n"
    assert is_good(token)
    assert "grace: active, 1 token, last sign-in" in command("list")
    assert "grace is deactivated. Ended: 1 token, 1 sign-in." in command("deactivate", "grace")
    assert "grace: deactivated, 0 tokens" in command("list")
    row = find_token(token.secret)
    assert row is not None
    assert row.revoked_at


@pytest.mark.parametrize("action", ["deactivate", "password-link"])
def test_the_command_refuses_a_name_that_nobody_has(action: str, root: User) -> None:
    with pytest.raises(CommandError, match="Nobody is called"):
        command(action, "nobody")
    with pytest.raises(CommandError, match="only superuser"):
        command("deactivate", "root", "--dry-run")
