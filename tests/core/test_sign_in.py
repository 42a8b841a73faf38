"""Failed sign-ins: five are free, then each doubles the wait, counted in the database."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from ctxhub.core.accounts import sign_in
from ctxhub.core.accounts.sign_in import count_attempt, remove_old_failures
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.models import SignInFailure

ADDRESS = "192.0.2.1"
REFUSED = "Too many failed sign-ins. Try again in "


@pytest.fixture
def ada_can_sign_in(db: None) -> User:
    return User.objects.create_superuser("ada", password="correct-horse")


def try_password(password: str, name: str = "ada") -> str:
    """The page after an attempt; "" if it succeeded."""
    return Client().post("/admin/login/", {"username": name, "password": password}).content.decode()


def fail(times: int, *, name: str = "Ada") -> SignInFailure:
    for _ in range(times):
        count_attempt(name=name, address=ADDRESS)
    return SignInFailure.objects.get(name=name.casefold()[:150], address=ADDRESS)


def end_wait() -> None:
    SignInFailure.objects.update(until=clock.now())


@pytest.mark.django_db
def test_each_failure_after_the_fifth_doubles_the_wait() -> None:
    fail(4)
    waits = []
    for _ in range(8):
        row = fail(1)
        assert row.until
        waits.append((row.until - row.last_at) // timedelta(minutes=1))
        with pytest.raises(LimitReached, match=REFUSED):
            count_attempt(name="Ada", address=ADDRESS)
        end_wait()
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.django_db
def test_failures_are_counted_for_15_minutes() -> None:
    fail(4)
    SignInFailure.objects.update(first_at=clock.now() - sign_in.COUNTED_FOR)
    assert fail(1).count == 1


@pytest.mark.django_db
def test_names_and_addresses_are_counted_apart_and_case_folded() -> None:
    fail(5, name="x" * 200)
    count_attempt(name="ada", address="192.0.2.2")
    assert fail(1, name="ADA").count == 1
    assert SignInFailure.objects.filter(name="x" * 150, count=5).exists()


@pytest.mark.django_db
def test_old_counts_are_removed() -> None:
    fail(5)
    fail(1, name="ben")
    remove_old_failures(clock.now() + sign_in.REMEMBERED_FOR)
    assert [row.name for row in SignInFailure.objects.all()] == ["ada"]
    remove_old_failures(clock.now() + 2 * sign_in.REMEMBERED_FOR)
    assert not SignInFailure.objects.exists()


@pytest.mark.django_db
def test_made_up_names_do_not_fill_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "MOST_ROWS", 3)
    for number in range(9):
        count_attempt(name=f"name {number}", address="192.0.2.1")
    assert {row.name for row in SignInFailure.objects.all()} == {"name 6", "name 7", "name 8"}


@pytest.mark.django_db(transaction=True)
def test_racing_failures_are_all_counted() -> None:
    def attempt(_: int) -> bool:
        try:
            count_attempt(name="Ada", address=ADDRESS)
        except LimitReached:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        passed = list(pool.map(attempt, range(12)))
    assert (sum(passed), SignInFailure.objects.get().count) == (5, 5)


@pytest.mark.parametrize("name", ["ada", "nobody"])
def test_the_page_tells_the_wait_for_any_name(
    ada_can_sign_in: User, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    pages = [try_password("wrong", name) for _ in range(6)]
    assert [REFUSED in page for page in pages] == [False] * 4 + [True] * 2
    assert [record.levelname for record in caplog.records if record.name == sign_in.__name__] == ["WARNING"]


def test_the_right_password_is_refused_during_the_wait_and_clears_the_count_after(
    ada_can_sign_in: User,
) -> None:
    for _ in range(5):
        try_password("wrong")
    assert REFUSED in try_password("correct-horse")
    end_wait()
    assert try_password("correct-horse") == ""
    assert not SignInFailure.objects.exists()


def test_superusers_see_the_failures_and_cannot_change_them(ada_can_sign_in: User) -> None:
    row = fail(5, name="mallory")
    client = Client()
    client.force_login(ada_can_sign_in)
    address = "/admin/core/signinfailure/"
    assert "mallory" in client.get(address).content.decode()
    assert client.get(f"{address}{row.pk}/change/").status_code == 200
    assert client.post(f"{address}{row.pk}/delete/", {"post": "yes"}).status_code == 403


# -- Many names from an address, many addresses with a name ------------------------------------------


def spray(times: int, *, name: str = "name {}", address: str = "192.0.2.1") -> None:
    for number in range(times):
        count_attempt(name=name.format(number), address=address.format(number))


@pytest.mark.django_db
def test_an_address_has_30_failures_with_any_names() -> None:
    spray(29)
    count_attempt(name="the thirtieth", address="192.0.2.1")
    with pytest.raises(LimitReached, match=f"{REFUSED}15 minutes") as caught:
        count_attempt(name="ada", address="192.0.2.1")
    assert 0 < caught.value.details["retry_after"] <= 15 * 60
    count_attempt(name="ada", address="192.0.2.2")


@pytest.mark.django_db
def test_a_name_has_50_failures_from_any_addresses() -> None:
    spray(50, name="Ada", address="192.0.2.{}")
    with pytest.raises(LimitReached, match=f"{REFUSED}15 minutes"):
        count_attempt(name="ADA", address="198.51.100.1")
    count_attempt(name="ben", address="198.51.100.1")


@pytest.mark.django_db
def test_such_a_wait_ends_by_itself_when_the_failures_are_15_minutes_old() -> None:
    spray(50, name="ada", address="192.0.2.{}")
    old = SignInFailure.objects.order_by("last_at")[:1].values("pk")
    SignInFailure.objects.filter(pk__in=old).update(last_at=clock.now() - sign_in.COUNTED_FOR)
    count_attempt(name="ada", address="198.51.100.1")
    with pytest.raises(LimitReached):
        count_attempt(name="ada", address="198.51.100.2")
    assert not SignInFailure.objects.filter(address="198.51.100.2").exists()


@pytest.mark.django_db
def test_a_wait_of_both_kinds_is_told_as_the_longer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "MOST_OF", {"address": 5, "name": 50})
    fail(5)
    with pytest.raises(LimitReached, match=f"{REFUSED}15 minutes"):
        count_attempt(name="Ada", address=ADDRESS)


@pytest.mark.django_db(transaction=True)
def test_racing_failures_with_many_names_are_all_counted() -> None:
    def attempt(number: int) -> bool:
        try:
            count_attempt(name=f"name {number}", address="192.0.2.1")
        except LimitReached:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        passed = sum(pool.map(attempt, range(40)))
    assert (passed, SignInFailure.objects.count()) == (30, 30)


def test_who_has_signed_in_before_is_not_kept_out_by_the_failures_of_others(
    ada_can_sign_in: User, caplog: pytest.LogCaptureFixture
) -> None:
    browser = Client()
    browser.post("/admin/login/", {"username": "ada", "password": "correct-horse"})
    cookie = browser.cookies["ctxhub_known"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/admin/login/")
    browser.logout()
    browser.cookies["ctxhub_known"] = cookie.value
    spray(49, name="ada", address="192.0.2.{}")
    page = try_password("wrong")
    assert f"{REFUSED}15 minutes. A browser that you have signed in with before need not wait." in page
    assert REFUSED in try_password("correct-horse")
    assert "50 failed sign-ins as 'ada': refused until" in caplog.text
    assert browser.post("/admin/login/", {"username": "ben", "password": "x"}).status_code == 200
    assert browser.post("/admin/login/", {"username": "ada", "password": "correct-horse"}).status_code == 302


@pytest.mark.parametrize("forged", ["ada", "ImFkYSI:1:x", ""])
def test_a_forged_cookie_is_none(ada_can_sign_in: User, forged: str) -> None:
    spray(50, name="ada", address="192.0.2.{}")
    browser = Client()
    browser.cookies["ctxhub_known"] = forged
    page = browser.post("/admin/login/", {"username": "ada", "password": "correct-horse"})
    assert REFUSED in page.content.decode()


def test_the_cookie_of_somebody_else_is_none(ada_can_sign_in: User) -> None:
    User.objects.create_user("mallory", password="correct-horse", is_staff=True)
    browser = Client()
    browser.post("/admin/login/", {"username": "mallory", "password": "correct-horse"})
    spray(50, name="ada", address="192.0.2.{}")
    page = browser.post("/admin/login/", {"username": "ada", "password": "correct-horse"})
    assert REFUSED in page.content.decode()


def test_a_success_takes_back_its_own_failures_alone(ada_can_sign_in: User) -> None:
    spray(3, address="127.0.0.1")
    try_password("wrong")
    assert try_password("correct-horse") == ""
    assert {row.name for row in SignInFailure.objects.all()} == {"name 0", "name 1", "name 2"}


def test_superusers_see_who_waits_and_may_end_it(ada_can_sign_in: User) -> None:
    spray(50, name="mallory", address="192.0.2.{}")
    spray(30, address="198.51.100.7")
    client = Client()
    client.force_login(ada_can_sign_in)
    page = client.get("/admin/core/signinfailure/").content.decode()
    assert "50 attempts as mallory have failed within 15 minutes" in page
    assert "30 attempts from 198.51.100.7 have failed" in page
    rows = [row.pk for row in SignInFailure.objects.filter(name="mallory")]
    chosen = {"action": "forget", "_selected_action": rows}
    assert client.post("/admin/core/signinfailure/", chosen).status_code == 302
    count_attempt(name="mallory", address="203.0.113.1")


def test_nobody_else_may_end_a_wait(ada_can_sign_in: User) -> None:
    row = fail(5)
    client = Client()
    client.force_login(User.objects.create_user("ben", is_staff=True))
    chosen = {"action": "forget", "_selected_action": [row.pk]}
    assert client.post("/admin/core/signinfailure/", chosen).status_code == 403
    assert SignInFailure.objects.exists()
