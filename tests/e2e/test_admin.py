"""The admin in a real browser, as a person uses it."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, expect

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import AccessToken, Layer, Project
from memory.decisions.queries import find_decision
from memory.decisions.services import set_decision
from memory.models import Decision
from tests.hub import LiveHub
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine

PASSWORD = "correct-horse-battery"


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project) -> Page:
    """A page on which Vera, an administrator of apollo, is signed in."""
    sign_in(page, hub, person("vera", apollo, ADMIN))
    return page


def sign_in(page: Page, hub: LiveHub, user: User) -> None:
    """Sign in with a session cookie and open the first page."""
    client = Client()
    client.force_login(user)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": hub.url}]
    )
    page.goto(f"{hub.url}/admin/")


def go(page: Page, path: str) -> None:
    page.goto(re.sub(r"/admin/.*", path, page.url))


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def test_a_person_signs_in_with_a_password(page: Page, hub: LiveHub, apollo: Project) -> None:
    user = person("ada", apollo, ADMIN)
    user.set_password(PASSWORD)
    user.save()
    page.goto(f"{hub.url}/admin/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{hub.url}/admin/")
    expect(page.get_by_text("Nothing has happened here yet.")).to_be_visible()


def test_a_new_hub_links_to_creating_a_token(signed_in: Page) -> None:
    expect(signed_in.get_by_text("Nothing has happened here yet.")).to_be_visible()
    signed_in.get_by_role("link", name="Create an access token").click()
    expect(signed_in.get_by_label("Name of the agent")).to_be_visible()


def test_a_decision_is_created_changed_and_its_history_shown(signed_in: Page, ada: Caller) -> None:
    page = signed_in
    page.get_by_role("link", name="Decisions").click()
    page.locator(".addlink").first.click()
    page.get_by_label("Key").fill("api/auth/method")
    page.get_by_label("Value", exact=True).fill("JWT, signed, for 15 minutes")
    page.get_by_label("Rationale").fill("Stateless.")
    page.get_by_label("Tags").fill("api, brand-new")
    page.get_by_label("Layer").select_option("business")
    save(page)
    expect(page.get_by_role("heading", name="api/auth/method", exact=True)).to_be_visible()

    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Value", exact=True).fill("JWT, signed, for 10 minutes")
    page.get_by_label("Tags").fill("brand-new")
    save(page)
    history = page.locator(".ctx-steps")
    expect(history.locator("del").first).to_have_text("15")
    expect(history.locator("ins").first).to_have_text("10")
    expect(history.locator("del", has_text="api")).to_be_visible()
    row = find_decision(ada.project_id, "api/auth/method")
    assert row
    assert (row.version, row.layer, row.tags) == ("1.0.1", "business", ["brand-new"])


def test_saving_an_unchanged_form_changes_nothing(signed_in: Page, ada: Caller) -> None:
    """Changes of line endings and blanks by the browser do not count as a change."""
    made = set_decision(
        caller=ada, key="text", value="\n\n first\r\nsecond\n \n", rationale="\nLong.\n", metadata={"a": 1}
    )
    before = find_decision(ada.project_id, "text")
    go(signed_in, f"/admin/memory/decision/{made['id']}/change/")
    save(signed_in)
    expect(signed_in.get_by_role("heading", name="text", exact=True)).to_be_visible()
    assert find_decision(ada.project_id, "text") == before


def test_a_concurrent_change_is_shown_before_it_is_overwritten(
    signed_in: Page, ada: Caller, ben: Caller
) -> None:
    made = set_decision(caller=ada, key="db/engine", value="SQLite")
    page = signed_in
    go(page, f"/admin/memory/decision/{made['id']}/change/")
    set_decision(caller=ben, key="db/engine", value="PostgreSQL")
    page.get_by_label("Rationale").fill("We are a team now.")
    save(page)
    expect(page.get_by_text("ben has changed this decision while you were editing it")).to_be_visible()
    expect(page.get_by_label("Value", exact=True)).to_have_value("PostgreSQL")
    save(page)
    expect(page.get_by_role("heading", name="db/engine", exact=True)).to_be_visible()
    row = find_decision(ada.project_id, "db/engine")
    assert row
    assert (row.value, row.rationale) == ("PostgreSQL", "We are a team now.")


def test_the_list_is_filtered_by_a_tag(signed_in: Page, ada: Caller) -> None:
    for key, tags in (("one", ["api"]), ("two", ["api", "security"]), ("three", [])):
        set_decision(caller=ada, key=key, value=key, tags=tags)
    page = signed_in
    go(page, "/admin/memory/decision/")
    filters = page.get_by_role("navigation", name="Filters")
    filters.locator("summary", has_text="Tag").click()
    page.get_by_label("Tag", exact=True).fill("Security")
    filters.get_by_role("button", name="Apply").click()
    expect(page.locator("#result_list .ctx-row")).to_have_count(1)
    expect(page.locator("#result_list")).to_contain_text("two")


def test_several_decisions_are_deprecated_with_a_reason(signed_in: Page, ada: Caller) -> None:
    for key in ("one", "two"):
        set_decision(caller=ada, key=key, value=key)
    page = signed_in
    go(page, "/admin/memory/decision/")
    for box in page.locator("input.action-select").all():
        box.check()
    page.get_by_role("button", name="Deprecate the selected decisions").click()
    page.get_by_label("Reason").fill("Both are history.")
    page.get_by_role("button", name="Deprecate").click()
    expect(page.get_by_text("Deprecated: ")).to_be_visible()
    assert set(Decision.unscoped.values_list("reason", flat=True)) == {"Both are history."}


def test_a_new_token_is_shown_once_and_is_valid(signed_in: Page, hub: LiveHub, ada: Caller) -> None:
    set_decision(caller=ada, key="db/engine", value="PostgreSQL")
    page = signed_in
    go(page, "/admin/core/accesstoken/add/")
    page.get_by_label("Name").fill("laptop")
    save(page)
    secret = page.locator("#secret").inner_text()
    expect(page.get_by_text(f"CTXHUB_TOKEN={secret} CTXHUB_AGENT=")).to_be_visible()
    answer = hub.mcp(secret).call("decision", "get", key="db/engine")
    assert answer["decision"]["value"] == "PostgreSQL"
    page.get_by_role("link", name="All access tokens").click()
    expect(page.locator("#result_list")).to_contain_text("laptop")
    assert secret not in page.content()


def test_a_token_is_revoked_after_confirmation(signed_in: Page, apollo: Project) -> None:
    token = create_token(project=apollo, name="laptop").row
    page = signed_in
    go(page, f"/admin/core/accesstoken/{token.pk}/change/")
    page.get_by_role("link", name="Revoke").click()
    assert AccessToken.unscoped.get().is_usable
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator("#result_list")).to_contain_text("revoked")


def test_layers_are_reordered_by_dragging(signed_in: Page, apollo: Project) -> None:
    page = signed_in
    go(page, "/admin/core/layer/")
    handles = page.locator("[x-sort\\:handle]")
    handles.nth(4).drag_to(handles.nth(0))
    save(page)
    expect(page.get_by_text("changed successfully")).to_be_visible()
    assert Layer.objects.in_project(apollo).order_by("position")[0].name == "cross-cutting"


def test_a_phone_shows_charts_within_four_screens(signed_in: Page, ada: Caller) -> None:
    for number in range(30):
        set_decision(caller=ada, key=f"key/{number}", value="x", layer="data")
    page = signed_in
    page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/admin/", "/admin/memory/snapshot/overview/", "/admin/core/event/timeline/"):
        go(page, path)
        tops = page.locator(".ctx-bars, .ctx-layers, .ctx-chart, .ctx-timeline").evaluate_all(
            "charts => charts.map(chart => chart.getBoundingClientRect().top)"
        )
        assert max(tops, default=0) < 4 * 844, path


def addresses(project: Project) -> Iterator[str]:
    decision = Decision.objects.in_project(project).latest("pk").pk
    token = AccessToken.objects.in_project(project).latest("pk").pk
    yield "/admin/"
    yield from (f"/admin/memory/decision/{page}" for page in ("", "add/?project=apollo", f"{decision}/"))
    yield from (
        f"/admin/memory/decision/{decision}/{page}/" for page in ("change", "history", "deprecate", "delete")
    )
    yield from (f"/admin/core/accesstoken/{page}" for page in ("", "add/?project=apollo", f"{token}/change/"))
    yield from (f"/admin/core/{model}/" for model in ("event", "agent", "tag", "scope", "layer", "project"))
    yield from (f"/admin/core/project/{project.pk}/{page}/" for page in ("change", "delete", "history"))
    yield from (
        "/admin/auth/user/",
        "/admin/auth/user/add/",
        "/admin/password_change/",
    )


def test_every_page_complies_with_the_content_security_policy(
    page: Page, hub: LiveHub, apollo: Project, ada: Caller
) -> None:
    """The fixture fails the test on any console message, and nothing is loaded from another site."""
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    set_decision(caller=ada, key="api/auth", value="JWT", tags=["api"])
    create_token(project=apollo, name="laptop")
    sign_in(page, hub, User.objects.create_superuser("root"))
    for address in addresses(apollo):
        page.emulate_media(color_scheme="light")
        answer = page.goto(hub.url + address)
        page.emulate_media(color_scheme="dark")
        # Resources of the other colour scheme are requested with the next frame.
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        assert answer is not None
        assert answer.status == 200, address
    assert [url for url in requested if not url.startswith((hub.url, "data:"))] == []
