"""Invitations: links that work once, for 72 hours, and give a role in one project."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from ctxhub.core.accounts.projects import invite, join
from ctxhub.core.accounts.sign_in import FREE_FAILURES
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.models import Agent, Event, Invitation, Membership, Project
from ctxhub.core.text.secrets import mask_secrets
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in

ADD, LIST = reverse("admin:core_invitation_add"), reverse("admin:core_invitation_changelist")
JOIN = reverse("invitation")
JOINED = "/admin/core/accesstoken/add/?project=apollo&own=1&joined=1"
PASSWORD = "correct-horse-battery"


@pytest.fixture
def host(apollo: Project) -> User:
    return person("host", apollo, ADMIN)


def invitation(host: User, project: Project, role: Membership.Role = VIEWER) -> str:
    """The path of a new link."""
    caller = Caller(project=project, agent=host.get_username(), is_person=True)
    return path_of(invite(caller=caller, name="Grace", role=role, created_by=host).secret)


def path_of(secret: str) -> str:
    return reverse("invitation_link", args=[secret])


def follow(link: str, client: Client | None = None) -> Client:
    client = client or Client()
    assert client.get(link)["Location"] == JOIN
    return client


def register(client: Client, username: str = "grace", password: str = PASSWORD) -> HttpResponse:
    fields = {"username": username, "password1": password, "password2": password}
    return client.post(JOIN, fields)  # type: ignore[return-value]


def roles() -> dict[str, str]:
    rows = Membership.objects.select_related("user").exclude(user__username="host")
    return {row.user.get_username(): row.get_role_display() for row in rows}


def events() -> list[tuple[str, str, str]]:
    rows = Event.unscoped.filter(ref__startswith="invitation:").select_related("agent").order_by("pk")
    return [(str(row.agent), row.verb, row.data["note"]) for row in rows]


# -- The administrator's side ----------------------------------------------------------------------


@pytest.mark.one_engine
def test_the_link_is_shown_once_and_leads_to_the_project(host: User, apollo: Project) -> None:
    admin = signed_in(host)
    fields = {"name": "Grace", "role": "2", "once": "form-1"}
    page = admin.post(ADD, fields)
    [link] = re.findall(r"http://testserver(/invitation/ctx_[\w-]{40}/)", page.content.decode())
    assert admin.post(ADD, fields).status_code == 302
    row = Invitation.unscoped.get()
    assert (row.project, row.get_role_display(), row.created_by) == (apollo, "member", host)
    assert row.expires_at - row.created_at == pytest.approx(timedelta(hours=72), abs=timedelta(minutes=1))
    secret = link.split("/")[2]
    places = [str(Invitation.unscoped.values()), *map(str, Event.unscoped.values_list("data", flat=True))]
    for address in (LIST, f"/admin/core/invitation/{row.pk}/change/"):
        places.append(admin.get(address).content.decode())
    assert not [place for place in places if secret in place]
    assert register(follow(link)).status_code == 302
    assert roles() == {"grace": "member"}


@pytest.mark.one_engine
def test_the_page_of_a_project_leads_to_an_invitation(host: User, apollo: Project) -> None:
    page = signed_in(host).get(f"/admin/core/project/{apollo.pk}/change/").content.decode()
    invite = reverse("admin:core_project_invite", args=[apollo.pk])
    assert invite in page
    assert signed_in(host).get(invite)["Location"] == f"{ADD}?project=apollo"
    viewer = member(apollo, VIEWER)
    assert invite not in viewer.get(f"/admin/core/project/{apollo.pk}/change/").content.decode()
    assert viewer.get(invite).status_code == 403


@pytest.mark.one_engine
@pytest.mark.parametrize("role", [VIEWER, MEMBER])
def test_only_administrators_invite(role: Membership.Role, apollo: Project) -> None:
    client = member(apollo, role)
    assert client.get(LIST).status_code == 403
    assert client.post(ADD, {"name": "Grace", "role": "3", "once": "a"}).status_code == 403
    assert not Invitation.unscoped.exists()


@pytest.mark.one_engine
def test_an_administrator_of_another_project_sees_no_invitation(
    host: User, apollo: Project, hermes: Project
) -> None:
    link = invitation(host, apollo)
    stranger = member(hermes, ADMIN, "cleo")
    row = Invitation.unscoped.get()
    revoke = reverse("admin:core_invitation_revoke", args=[row.pk])
    assert "Grace" not in stranger.get(LIST).content.decode()
    assert stranger.post(revoke, {"confirmed": "yes"}).status_code in (302, 403, 404)
    assert (
        stranger.post(f"{ADD}?project=apollo", {"name": "Eve", "role": "3", "once": "a"}).status_code != 302
    )
    assert follow(link).get(JOIN).status_code == 200
    assert Invitation.unscoped.count() == 1


@pytest.mark.one_engine
def test_a_revoked_link_is_refused_and_the_log_tells_it(host: User, apollo: Project) -> None:
    link = invitation(host, apollo)
    client = follow(link)
    url = reverse("admin:core_invitation_revoke", args=[Invitation.unscoped.get().pk])
    assert "Revoke 1 invitation?" in signed_in(host).get(url).content.decode()
    signed_in(host).post(url, {"confirmed": "yes"})
    for answer in (Client().get(link), client.get(JOIN), register(client)):
        assert answer.status_code in (404, 410)
    assert "revoked" in Client().get(link).content.decode()
    assert events() == [("host", "created", "Grace: viewer"), ("host", "revoked", "Grace: viewer")]
    assert not User.objects.filter(username="grace").exists()


# -- Joining ---------------------------------------------------------------------------------------


def test_a_new_person_joins_once_with_a_name_and_a_password(host: User, apollo: Project) -> None:
    link = invitation(host, apollo)
    client, late = follow(link), follow(link)
    answer = register(client)
    assert answer["Location"] == JOINED
    assert client.get("/admin/memory/decision/").status_code == 200
    assert client.get("/admin/memory/decision/add/").status_code == 403
    assert roles() == {"grace": "viewer"}
    assert User.objects.get(username="grace").check_password(PASSWORD)
    assert events() == [("host", "created", "Grace: viewer"), ("grace", "accepted", "Grace: viewer")]
    refused = register(late, "eve")
    assert refused.status_code == 410
    assert "has been used" in refused.content.decode()
    assert roles() == {"grace": "viewer"}


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("role", "expected"), [(None, "member"), (VIEWER, "member"), (ADMIN, "admin")], ids=str
)
def test_a_signed_in_person_joins_and_keeps_a_higher_role(
    role: Membership.Role | None, expected: str, host: User, apollo: Project, hermes: Project
) -> None:
    user = person("ben", hermes, MEMBER)
    if role:
        Membership.objects.create(project=apollo, user=user, role=role)
    client = follow(invitation(host, apollo, MEMBER), signed_in(user))
    assert "signed in as ben" in client.get(JOIN).content.decode()
    client.post(JOIN)
    assert Membership.objects.get(project=apollo, user=user).get_role_display() == expected
    assert (Invitation.unscoped.get().used_by is None) == (role == ADMIN)


@pytest.mark.one_engine
def test_signing_in_leads_back_to_the_invitation_and_nowhere_else(host: User, apollo: Project) -> None:
    User.objects.create_user("ben", password=PASSWORD, is_staff=True)
    client = follow(invitation(host, apollo))
    [login] = re.findall(r'href="(/admin/login/[^"]*)"', client.get(JOIN).content.decode())
    assert login == f"/admin/login/?next={JOIN}"
    answer = client.post(login, {"username": "ben", "password": PASSWORD})
    assert answer["Location"] == JOIN
    client.post(f"{JOIN}?next=https://example.com/")
    assert roles() == {"ben": "viewer"}


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("username", "password", "problem"),
    [
        ("grace", "12345678", "too common"),
        ("grace", "short", "too short"),
        ("grace-hopper", "grace-hopper1", "similar"),
        ("host", PASSWORD, "already exists"),
        ("HOST", PASSWORD, "already exists"),
        ("Claude", PASSWORD, "taken"),
        ("a b", PASSWORD, "valid username"),
    ],
)
def test_weak_passwords_and_taken_names_are_refused(
    username: str, password: str, problem: str, host: User, apollo: Project
) -> None:
    Agent.objects.create(project=apollo, name="claude", folded="claude")
    page = register(follow(invitation(host, apollo)), username, password)
    assert problem in page.content.decode()
    assert roles() == {}
    assert Invitation.unscoped.get().state == "open"


@pytest.mark.one_engine
def test_an_account_with_the_name_of_an_agent_is_asked_for_another(
    host: User, apollo: Project, hermes: Project
) -> None:
    Agent.objects.create(project=apollo, name="Claude", folded="claude")
    user = person("claude", hermes)
    client = follow(invitation(host, apollo, MEMBER), signed_in(user))
    assert "choose another" in client.get(JOIN).content.decode()
    for name in ("", "claude", "CLAUDE", "host", "a b", "c" * 101):
        assert client.post(JOIN, {"username": name}).status_code == 200
    assert roles() == {"claude": "member"}
    assert client.post(JOIN, {"username": "claude-shannon"})["Location"] == JOINED
    assert Membership.objects.get(project=apollo, user=user).get_role_display() == "member"
    assert client.get("/admin/memory/decision/").status_code == 200  # Still signed in.
    kinds = {row.name: row.get_kind_display() for row in Agent.objects.in_project(apollo)}
    assert kinds == {"Claude": "agent", "claude-shannon": "human", "host": "human"}


@pytest.mark.one_engine
def test_a_name_that_is_free_elsewhere_alone_is_refused(host: User, apollo: Project, hermes: Project) -> None:
    for project, name in ((apollo, "claude"), (hermes, "codex")):
        Agent.objects.create(project=project, name=name, folded=name)
    User.objects.bulk_create([User(username="claude", is_staff=True)])
    user = User.objects.get(username="claude")
    Membership.objects.create(project=hermes, user=user)
    client = follow(invitation(host, apollo, MEMBER), signed_in(user))
    assert "taken" in client.post(JOIN, {"username": "Codex"}).content.decode()
    assert not Membership.objects.filter(project=apollo, user=user).exists()


def test_of_two_at_once_one_joins(host: User, apollo: Project) -> None:
    invitation(host, apollo)
    row = Invitation.unscoped.select_related("project", "created_by").get()
    users = [User.objects.create_user(f"person-{number}") for number in range(4)]
    outcomes: list[User | None] = []
    for user in users:
        stale = Invitation.unscoped.select_related("project", "created_by").get(pk=row.pk)
        stale.used_at = None
        try:
            outcomes.append(join(stale, lambda user=user: user))  # type: ignore[misc]
        except Conflict:
            outcomes.append(None)
    assert outcomes == [users[0], None, None, None]
    assert list(roles()) == ["person-0"]


# -- Closed and unknown links ----------------------------------------------------------------------


@pytest.mark.one_engine
def test_an_expired_link_is_refused(host: User, apollo: Project) -> None:
    link = invitation(host, apollo)
    client = follow(link)
    Invitation.unscoped.update(expires_at=clock.now())
    assert "expired" in Client().get(link).content.decode()
    assert register(client).status_code == 410
    assert not User.objects.filter(username="grace").exists()


@pytest.mark.one_engine
def test_a_link_ends_with_the_role_of_whoever_made_it(host: User, apollo: Project) -> None:
    link = invitation(host, apollo)
    Membership.objects.filter(user=host).update(role=MEMBER)
    assert "no longer an administrator" in Client().get(link).content.decode()


@pytest.mark.one_engine
def test_unknown_links_are_counted_as_failed_sign_ins(db: None) -> None:
    answers = [Client().get(path_of("ctx_" + str(number) * 40)) for number in range(FREE_FAILURES + 1)]
    assert [answer.status_code for answer in answers] == [404] * 4 + [429] * 2
    assert "Too many" in answers[-1].content.decode()
    assert Client().get(JOIN).status_code == 404


@pytest.mark.one_engine
def test_guesses_at_names_are_limited(host: User, apollo: Project) -> None:
    client = follow(invitation(host, apollo))
    pages = [register(client, "host").content.decode() for _ in range(FREE_FAILURES)]
    assert "Too many failed" not in pages[-2]
    assert "Too many failed" in pages[-1]
    assert "Too many failed" in register(client).content.decode()
    assert roles() == {}


# -- Secrecy ---------------------------------------------------------------------------------------


@pytest.mark.one_engine
def test_the_secret_leaves_the_address_and_reaches_no_cache_session_or_other_site(
    host: User, apollo: Project
) -> None:
    link = invitation(host, apollo)
    client = Client()
    first = client.get(link)
    page = client.get(JOIN)
    secret = link.split("/")[2]
    assert (first["Referrer-Policy"], page["Referrer-Policy"]) == ("no-referrer", "same-origin")
    assert "no-store" in first["Cache-Control"]
    assert "no-store" in page["Cache-Control"]
    assert "unsafe-inline" not in page["Content-Security-Policy"]
    sessions = [str(session.get_decoded()) for session in Session.objects.all()]
    assert not [text for text in [*sessions, str(first.headers), page.content.decode()] if secret in text]
    assert mask_secrets(f"GET {link} HTTP/1.1")[0] == "GET /invitation/[credential: ctxhub token]/ HTTP/1.1"


@pytest.mark.one_engine
def test_joining_needs_the_token_against_forged_requests(host: User, apollo: Project) -> None:
    client = follow(invitation(host, apollo), Client(enforce_csrf_checks=True))
    assert register(client).status_code == 403
    assert roles() == {}


@pytest.mark.one_engine
def test_looking_at_a_link_does_not_use_it(host: User, apollo: Project) -> None:
    link = invitation(host, apollo)
    for _ in range(3):
        Client().get(link)
        Client().head(link)
    assert Invitation.unscoped.get().state == "open"
