"""What the log says of a request: one line if it was refused, a traceback if the hub failed."""

import logging
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import include, path

from ctxhub.core.kit.log_lines import LineFormatter
from ctxhub.core.models import Project
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The lines of the log so far."""
    formatter = LineFormatter("{levelname} {name}: {message}", style="{")
    return lambda: [line for record in caplog.records for line in formatter.format(record).splitlines()]


def visitor(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def test_a_page_that_a_role_does_not_allow_is_one_line(
    apollo: Project, lines: Callable[[], list[str]]
) -> None:
    client = visitor(person("ada", apollo, ADMIN))
    assert client.get("/admin/auth/user/").status_code == 403
    assert lines() == ["WARNING django.request: Forbidden (Permission denied): /admin/auth/user/"]


def refuse(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied


def suspect(request: HttpRequest) -> HttpResponse:
    raise SuspiciousOperation("odd")


def fail(request: HttpRequest) -> HttpResponse:
    raise ValueError("a bug")


urlpatterns = [
    path("refuse/", refuse),
    path("suspect/", suspect),
    path("fail/", fail),
    path("", include("ctxhub.urls")),
]


@override_settings(ROOT_URLCONF=__name__)
@pytest.mark.parametrize(("page", "status"), [("/refuse/", 403), ("/suspect/", 400), ("/nothing-here/", 404)])
def test_what_is_refused_is_one_line(lines: Callable[[], list[str]], page: str, status: int) -> None:
    assert Client(raise_request_exception=False).get(page).status_code == status
    assert len(lines()) == 1


@override_settings(ROOT_URLCONF=__name__)
def test_a_failure_has_its_traceback(lines: Callable[[], list[str]]) -> None:
    assert Client(raise_request_exception=False).get("/fail/").status_code == 500
    assert "Traceback (most recent call last):" in lines()
    assert lines()[-1] == "ValueError: a bug"


def test_the_record_of_others_keeps_its_traceback() -> None:
    record = logging.LogRecord(
        "x", logging.WARNING, "x.py", 1, "refused", None, (ValueError, ValueError(), None)
    )
    record.status_code = 403
    assert LineFormatter("{message}", style="{").format(record) == "refused"
    assert record.exc_info is not None


def test_a_line_of_the_log_holds_no_other_line(lines: Callable[[], list[str]]) -> None:
    """Separators of Unicode and orders to a terminal are marked, and so is what turns a text around."""
    logging.getLogger("ctxhub").warning("agent %s", "be\u2028n\u0085\x1b[2J\u202e")
    assert lines() == ["WARNING ctxhub: agent be⟦U+2028⟧n⟦U+0085⟧⟦U+001B⟧[2J⟦U+202E⟧"]
