"""Links for a new password: made by an administrator, good once, for a day, without mail."""

import re
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from ctxhub.core.accounts.sign_in import FREE_FAILURES
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.leavers.leaving import deactivate_person
from ctxhub.core.leavers.password_links import choose_password, find_by_password_link, make_password_link
from ctxhub.core.models import Event, Project
from ctxhub.core.text.secrets import mask_secrets
from tests.people import ADMIN, person, signed_in

PASSWORD, PAGE = "correct-horse-battery", reverse("password")


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def grace(apollo: Project) -> User:
    return person("grace", apollo, ADMIN)


def follow(secret: str) -> Client:
    client = Client()
    assert client.get(reverse("password_link", args=[secret]))["Location"] == PAGE
    return client


def choose(client: Client, password: str = PASSWORD) -> HttpResponse:
    fields = {"new_password1": password, "new_password2": password}
    return client.post(PAGE, fields)  # type: ignore[return-value]


def test_a_link_sets_a_password_once_and_ends_earlier_sign_ins(root: User, grace: User) -> None:
    before = signed_in(grace)
    secret = make_password_link(grace, by=root).secret
    client = follow(secret)
    assert "A new password for grace" in client.get(PAGE).content.decode()
    assert "Your password is changed" in choose(client).content.decode()
    assert Client().login(username="grace", password=PASSWORD)
    assert before.get("/admin/").status_code == 302
    late = Client().get(reverse("password_link", args=[secret]))
    assert (late.status_code, "has been used" in late.content.decode()) == (410, True)


def test_of_two_that_opened_it_one_chooses(root: User, grace: User) -> None:
    secret = make_password_link(grace, by=root).secret
    first, second = follow(secret), follow(secret)
    choose(first)
    assert choose(second, "another-horse-battery").status_code == 410
    assert Client().login(username="grace", password=PASSWORD)
    with pytest.raises(Conflict):
        choose_password(secret, "another-horse-battery")


def test_a_link_lasts_a_day(root: User, grace: User) -> None:
    new = make_password_link(grace, by=root)
    with time_machine.travel(clock.now() + timedelta(hours=23, minutes=59)):
        assert find_by_password_link(new.secret) == grace
    with time_machine.travel(new.expires_at + timedelta(minutes=1)):
        client = Client()
        answer = client.get(reverse("password_link", args=[new.secret]))
        assert (answer.status_code, "older than 24 hours" in answer.content.decode()) == (410, True)


def test_a_sign_in_ends_a_link(root: User, grace: User) -> None:
    secret = make_password_link(grace, by=root).secret
    signed_in(grace)
    with pytest.raises(Conflict, match="Ask an administrator"):
        find_by_password_link(secret)


def test_who_is_deactivated_gets_no_password(root: User, grace: User) -> None:
    secret = make_password_link(grace, by=root).secret
    client = follow(secret)
    deactivate_person(grace, by=root)
    assert choose(client).status_code == 410
    assert Client().get(reverse("password_link", args=[secret])).status_code == 410
    with pytest.raises(Conflict, match="deactivated"):
        make_password_link(grace, by=root)
    assert not Client().login(username="grace", password=PASSWORD)


@pytest.mark.parametrize("password", ["grace", "12345678", "short"])
def test_weak_passwords_are_refused_and_leave_the_link_open(password: str, root: User, grace: User) -> None:
    client = follow(make_password_link(grace, by=root).secret)
    assert choose(client, password).status_code == 200
    assert "Your password is changed" in choose(client).content.decode()


@pytest.mark.one_engine
def test_guesses_are_counted_as_failed_sign_ins(root: User, grace: User) -> None:
    links = ["ctx_" + "a" * 55, "unknown", "ctx_1", "ctx_é", "ctx_" + "%00" * 9, "ctx_MS14"]
    replies = [Client().get(f"/password/{link}/") for link in links[: FREE_FAILURES + 1]]
    assert [reply.status_code for reply in replies] == [404] * 4 + [429] * 2
    assert Client().get(PAGE).status_code == 404


@pytest.mark.one_engine
def test_a_changed_link_is_refused(root: User, grace: User) -> None:
    secret = make_password_link(grace, by=root).secret
    other = make_password_link(root, by=root).secret
    for mended in (secret[:-4] + other[-4:], secret[:-1], secret.removeprefix("ctx_")):
        answer = Client().get(reverse("password_link", args=[mended]))
        assert answer.status_code in (404, 410, 302)
        assert mended == secret.removeprefix("ctx_") or answer.status_code != 302


@pytest.mark.one_engine
def test_the_secret_leaves_the_address_and_is_masked(root: User, grace: User) -> None:
    secret = make_password_link(grace, by=root).secret
    path = reverse("password_link", args=[secret])
    client = Client()
    first = client.get(path)
    page = client.get(PAGE)
    assert (first["Referrer-Policy"], "no-store" in first["Cache-Control"]) == ("no-referrer", True)
    assert secret not in page.content.decode()
    assert mask_secrets(f"GET {path} HTTP/1.1")[0] == "GET /password/[credential: ctxhub token]/ HTTP/1.1"
    assert not Event.unscoped.filter(data__icontains=secret).exists()


@pytest.mark.one_engine
def test_choosing_needs_the_token_against_forged_requests(root: User, grace: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.get(reverse("password_link", args=[make_password_link(grace, by=root).secret]))
    assert choose(client).status_code == 403


def test_it_is_recorded_who_made_it(root: User, grace: User) -> None:
    make_password_link(grace, by=root)
    event = Event.unscoped.select_related("agent").get(ref=f"password_link:{grace.pk}")
    assert (event.verb, str(event.agent), event.data["note"]) == (
        *("created", "root"),
        "grace: a link for a new password",
    )


def test_the_command_prints_a_link_that_works(root: User, grace: User) -> None:
    out = StringIO()
    call_command("person", "password-link", "grace", "--plain", stdout=out)
    [secret] = re.findall(r"^http://127.0.0.1:8000/password/(ctx_[\w-]+)/$", out.getvalue().strip())
    choose(follow(secret))
    assert Client().login(username="grace", password=PASSWORD)
    deactivate_person(grace, by=root)
    with pytest.raises(CommandError, match="deactivated"):
        call_command("person", "password-link", "grace")
