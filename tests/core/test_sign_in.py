"""Failed sign-ins: five are free, then each doubles the wait, counted in the database."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from ctxhub.core.accounts.services import sign_in
from ctxhub.core.accounts.services.sign_in import count_attempt, remove_old_failures
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.models import SignInFailure

WHO = {"name": "Ada", "address": "192.0.2.1"}
REFUSED = "Too many failed sign-ins. Try again in "


@pytest.fixture
def ada_can_sign_in(db: None) -> User:
    return User.objects.create_superuser("ada", password="correct-horse")


def try_password(password: str, name: str = "ada") -> str:
    """The page after an attempt; "" if it succeeded."""
    return Client().post("/admin/login/", {"username": name, "password": password}).content.decode()


def fail(times: int, *, name: str = "Ada") -> SignInFailure:
    for _ in range(times):
        count_attempt(name=name, address=WHO["address"])
    return SignInFailure.objects.get(name=name.casefold()[:150], address=WHO["address"])


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
            count_attempt(**WHO)
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
            count_attempt(**WHO)
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
