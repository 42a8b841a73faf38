"""Every other address: pages of the site, and what everybody may ask, each with its reason."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from ctxhub.core.events.following import Opening
from tests.databases import rolled_back
from tests.roles.admin_pages import DRAWN, notices
from tests.roles.asking import Wrong, compare_with_nothing
from tests.roles.people import Asker
from tests.roles.world import WORD, World

STAFF, SIGNED_IN, EVERYBODY, SECRET = "whoever may sign in", "whoever is signed in", "everybody", "a secret"
# By name, or by route where there is none; with what is answered to who may.
ADDRESSES: dict[str, tuple[str, tuple[int, ...], str]] = {
    "admin:index": (STAFF, (200,), "what one sees there is one's own"),
    "admin:app_list": (STAFF, (200, 404), "models of apps that one sees"),
    "admin:login": (EVERYBODY, (200, 302), "who is signed in is led on"),
    "admin:logout": (EVERYBODY, (302, 405), "it takes POST of who is signed in"),
    "admin:password_change": (STAFF, (200,), "one's own"),
    "admin:password_change_done": (STAFF, (200,), "one's own"),
    "admin:autocomplete": (STAFF, (200, 403), "of fields that one sees: test_scoping_admin.py"),
    "admin:jsi18n": (STAFF, (200,), "words of the interface"),
    "admin:view_on_site": (STAFF, (404,), "nothing has a page outside"),
    "admin:search": (STAFF, (200,), "models that one sees"),
    "admin_view": (STAFF, (200,), "of a project that one sees"),
    "admin_search": (STAFF, (200,), "of a project that one sees"),
    "admin_palette": (STAFF, (200,), "of projects that one sees"),
    "admin_overview": (STAFF, (200,), "of projects that one sees"),
    "admin_overview_events": (STAFF, (200,), "of projects that one sees"),
    "admin_settings": (STAFF, (200,), "what one chooses for oneself"),
    "admin_connected": (STAFF, (200, 404), "of a token that one made"),
    "(?P<url>.*)$": (STAFF, (404,), "there is no such page"),
    "": (EVERYBODY, (302,), "it leads to the admin"),
    "invitation": (SECRET, (404, 410), "who has followed a link"),
    "invitation_link": (SECRET, (404,), "who has the link; this one is none"),
    "password": (SECRET, (404,), "who has followed a link"),
    "password_link": (SECRET, (404, 429), "who has the link; this one is none"),
    "connect": (EVERYBODY, (200,), "how a client is connected"),
    "client_archive": (EVERYBODY, (200,), "the client, which holds nothing of the hub"),
    "client_checksum": (EVERYBODY, (200,), "of the client"),
    "enrolment": (SIGNED_IN, (200,), "who types a code decides for themselves"),
    "enrolment_device": (EVERYBODY, (405,), "a program begins without a token: test_enrolment.py"),
    "enrolment_token": (SECRET, (405,), "of the program"),
    "enrolment_renewal": (SECRET, (405,), "the token that is renewed"),
    "enrolment_revocation": (SECRET, (405,), "the token that ends"),
    "api:schema": (EVERYBODY, (200,), "the same for every hub"),
    "api:docs": (EVERYBODY, (200,), "the same for every hub"),
    "healthz": (EVERYBODY, (200,), "for who watches the hub"),
    "readyz": (EVERYBODY, (200,), "for who watches the hub"),
    "metrics": (EVERYBODY, (200,), "from this machine; others need its token: test_metrics.py"),
    "unknown_address": (EVERYBODY, (404,), "there is nothing"),
}
ARGUMENTS: dict[str, list[Any]] = {
    "admin:app_list": ["memory"],
    "admin:view_on_site": [1, 1],
    "admin_view": ["layer_summary"],
    "invitation_link": ["unknown"],
    "password_link": ["unknown"],
}
REDIRECT = "<path:object_id>/"  # Django's, from the address of a row to its form.
OF_MODELS = re.compile("^(core|auth|memory|messaging|tracking|agent_sessions)_[a-z]+_")


def names(patterns: Any, before: str = "", space: str = "") -> Iterator[str]:
    """The names of all addresses but those of models and of REST below v1/."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else space
            yield from names(pattern.url_patterns, f"{before}{pattern.pattern}", inner)
        elif not hasattr(pattern.callback, "actions") and not OF_MODELS.match(str(pattern.name)):
            yield _name(pattern, space)


def _name(pattern: URLPattern, space: str) -> str:
    return f"{space}{pattern.name}" if pattern.name else _nameless(pattern)


def _nameless(pattern: URLPattern) -> str:
    is_function = getattr(pattern.callback, "__name__", "") == "unknown_address"
    return "unknown_address" if is_function else str(pattern.pattern)


def url_of(name: str) -> str:
    if name == "unknown_address":
        return "/api/nowhere/"
    if name in ("", "healthz", "metrics", "readyz"):
        return f"/{name}"
    if name.startswith("(?P<url>"):
        return "/admin/nowhere/"
    return reverse(name, args=ARGUMENTS.get(name, [])) + "?project=apollo"


def ask(asker: Asker, name: str) -> tuple[Any, ...]:
    with Opening().at_work():
        reply: Any = asker.browser().get(url_of(name))
    text = b"".join(reply.streaming_content) if reply.streaming else reply.content
    shown = re.sub(DRAWN, r"\1", text.decode(errors="replace"))
    return reply.status_code, reply.headers.get("Location"), notices(reply), shown


def expected(asker: Asker, who: str) -> bool:
    return {STAFF: asker.is_staff, SIGNED_IN: asker.is_known and asker.user is not None}.get(who, True)


def test_every_other_address_is_asked_for() -> None:
    found = {*names(get_resolver().url_patterns)} - {REDIRECT}
    assert found == {*ADDRESSES}


def test_who_may_gets_an_answer_and_others_are_led_to_sign_in(world: World) -> None:
    wrong = Wrong()
    for asker in world.people:
        for name, (who, statuses, _) in ADDRESSES.items():
            with rolled_back():
                status, where, *_ = ask(asker, name)
            is_right = status in statuses if expected(asker, who) else (status == 302 and "/login/" in where)
            wrong.unless(is_right, f"{asker}: {name}", (status, where))
    assert wrong == [], wrong.told


@pytest.mark.usefixtures("no_time_passes")
def test_a_stranger_gets_the_same_answers_with_and_without_apollo(world: World) -> None:
    wrong, strangers = Wrong(), [each for each in world.people if each.is_stranger]
    kept = [name for name, (who, *_) in ADDRESSES.items() if who in (STAFF, SIGNED_IN)]
    for asker, name, (*_, text) in compare_with_nothing(world, wrong, ask, strangers, kept):
        wrong.unless(WORD not in text, f"{asker}: {name}", "shows a word of apollo")
    assert wrong == [], wrong.told
