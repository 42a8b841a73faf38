"""Scratchpads in a real browser: read, written, restored; hostile content runs no code."""

import re

import pytest
from playwright.sync_api import Dialog, Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.memories.services import add_memory
from memory.models import Scratchpad
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad, update_scratchpad
from memory.workflows.services import create_workflow
from tests.e2e.test_admin import go, sign_in
from tests.hostile import HOSTILE
from tests.hub import LiveHub
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine

NASTY_NAME = "<img src=https://evil.example/n.png onerror=window.harmed=1>"
# Without NUL, which a hub does not accept.
NASTY_TEXT = "\n\n".join([f"# {NASTY_NAME}", *(text.replace("\x00", "") for text in HOSTILE)])
TOUCHED = ":is(.ctx-panel, .ctx-main, #result_list, .ctx-hits) *"
EVENTS = ["mouseover", "mouseenter", "focus", "toggle", "load", "error", "animationstart"]
EXTERNAL = re.compile(r"^(https?://|mailto:)")


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project) -> Page:
    sign_in(page, hub, person("vera", apollo, ADMIN))
    return page


@pytest.fixture
def alarms(signed_in: Page, hub: LiveHub) -> list[str]:
    """What content must not cause: requests to other sites, dialogs and windows."""
    found: list[str] = []
    signed_in.on(
        "request", lambda request: None if request.url.startswith(hub.url) else found.append(request.url)
    )

    def dismiss(dialog: Dialog) -> None:
        found.append(dialog.message)
        dialog.dismiss()

    signed_in.on("dialog", dismiss)
    signed_in.on("popup", lambda popup: found.append(popup.url))
    return found


@pytest.fixture
def workflow(hub: LiveHub, ada: Caller) -> int:
    return create_workflow(caller=ada, name="Code Refactoring Task")["workflow_id"]


def assert_harmless(page: Page, path: str) -> None:
    """Open a page, dispatch events to all its elements, and assert that no script has run."""
    go(page, path)
    page.wait_for_load_state("networkidle")
    page.evaluate(
        "([touched, events]) => document.querySelectorAll(touched).forEach("
        "(element) => events.forEach((name) => element.dispatchEvent(new Event(name))))",
        [TOUCHED, EVENTS],
    )
    assert page.evaluate("window.harmed") is None, path
    assert (
        page.locator(":is(.ctx-markdown, .ctx-lines) :is(script, style, svg, img, iframe, form)").count() == 0
    )


def assert_links_are_safe(page: Page) -> None:
    links = page.locator(".ctx-markdown a")
    assert links.count() > 5
    for link in links.all():
        expect(link).to_have_attribute("href", EXTERNAL)
        expect(link).to_have_attribute("rel", "nofollow noopener noreferrer")


def test_a_pad_with_hostile_content_runs_nothing(
    signed_in: Page, alarms: list[str], ada: Caller, workflow: int
) -> None:
    page = signed_in
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name=NASTY_NAME, content=NASTY_TEXT)
    own = f"/admin/memory/scratchpad/{pad['scratchpad_id']}/"
    append_to_scratchpad(caller=ada, scratchpad_id=pad["scratchpad_id"], content=NASTY_TEXT)
    for rest in ("raw/", "revisions/", "revisions/?state=1&against=present", "change/", "delete/", ""):
        assert_harmless(page, own + rest)
    assert_links_are_safe(page)
    for path in (
        "/admin/memory/scratchpad/",
        f"/admin/memory/workflow/{workflow}/",
        "/admin/memory/workflow/",
        "/admin/core/event/",
        "/admin/search/?project=apollo&q=harmed",
        "/admin/",
    ):
        assert_harmless(page, path)
    assert alarms == []


def test_a_memory_with_hostile_content_runs_nothing(signed_in: Page, alarms: list[str], ada: Caller) -> None:
    page = signed_in
    made = add_memory(
        caller=ada, title=NASTY_NAME, content=NASTY_TEXT, context=NASTY_NAME, tags=[NASTY_NAME], stack="<b>"
    )
    own = f"/admin/memory/memory/{made['id']}/"
    for path in (f"{own}?text=raw", f"{own}change/", "/admin/memory/memory/", "/admin/memory/context/", own):
        assert_harmless(page, path)
    assert_links_are_safe(page)
    assert alarms == []


def test_a_pad_is_read_by_outline_and_by_line(signed_in: Page, ada: Caller, workflow: int) -> None:
    page = signed_in
    text = "# First\n\n" + "words\n" * 2_500 + "\n## Second\n\n| a | b |\n| - | -: |\n| 1 | 2 |\n"
    create_scratchpad(caller=ada, workflow_id=workflow, name="code_analysis", content=text)
    go(page, f"/admin/memory/workflow/{workflow}/")
    page.get_by_role("link", name="code_analysis").first.click()
    outline = page.get_by_role("navigation", name="Outline")
    outline.get_by_role("link", name="Second").click()
    expect(page.get_by_role("heading", name="Second")).to_be_in_viewport()
    outline.get_by_title("Line 2504 of the raw text").click()
    expect(page.locator("#L2504")).to_be_in_viewport()
    expect(page.locator("#L2504")).to_have_text("## Second")
    expect(page.get_by_text("Lines 2001 to 2508 of 2508").first).to_be_visible()
    page.evaluate("location.hash = '#L7'")
    expect(page.locator("#L7")).to_be_in_viewport()
    expect(page.get_by_text("Lines 1 to 2000 of 2508").first).to_be_visible()


def test_a_pad_is_restored_by_clicks(signed_in: Page, ada: Caller, ben: Caller, workflow: int) -> None:
    page = signed_in
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="plan", content="one two three")
    row_id = pad["scratchpad_id"]
    update_scratchpad(caller=ben, scratchpad_id=row_id, content="one 2 three")
    go(page, f"/admin/memory/scratchpad/{row_id}/")
    page.get_by_role("link", name="Revisions").click()
    shown = page.locator(".ctx-difference")
    expect(shown.locator("del")).to_have_text("two")
    expect(shown.locator("ins")).to_have_text("2")
    page.get_by_role("link", name="1 created").click()
    page.get_by_role("link", name="What has changed since").click()
    expect(shown.locator("del")).to_have_text("two")

    append_to_scratchpad(caller=ben, scratchpad_id=row_id, content="four")
    page.get_by_role("button", name="Restore revision 1").click()
    expect(page.get_by_text("Nothing was restored. Check what has changed.")).to_be_visible()
    expect(shown.locator("ins").last).to_contain_text("four")
    page.get_by_role("button", name="Restore revision 1").click()
    expect(page.get_by_text("Revision 1 was restored.")).to_be_visible()
    assert Scratchpad.unscoped.get().content == "one two three"


def rewritten(caller: Caller, workflow: int, *texts: str) -> int:
    """The id of a pad that had these texts, one after the other."""
    pad = create_scratchpad(caller=caller, workflow_id=workflow, name="plan", content=texts[0])
    for text in texts[1:]:
        update_scratchpad(caller=caller, scratchpad_id=pad["scratchpad_id"], content=text)
    return pad["scratchpad_id"]


STATES = ("one two three", "one 2 three", "one 2 three four", "other")


@pytest.mark.parametrize("has_script", [True, False])
def test_any_two_states_are_compared_and_one_restored_in_three_clicks(
    signed_in: Page, hub: LiveHub, ada: Caller, workflow: int, has_script: bool
) -> None:
    row_id = rewritten(ada, workflow, *STATES)
    browser = signed_in.context.browser
    assert browser
    cookies = signed_in.context.storage_state()
    page = browser.new_page(java_script_enabled=has_script, storage_state=cookies, base_url=hub.url)
    page.goto(f"/admin/memory/scratchpad/{row_id}/revisions/")
    page.get_by_label("From revision 1").click()
    page.get_by_label("To revision 3").click()
    expect(page.locator(".ctx-difference del").first).to_have_text("two")
    expect(page.locator(".ctx-difference")).to_contain_text("one two2 three four")
    page.get_by_role("button", name="Restore revision 1").click()
    expect(page.get_by_text("Revision 1 was restored.")).to_be_visible()
    page.context.close()
    assert Scratchpad.unscoped.get().content == STATES[0]


def test_any_two_states_are_compared_and_one_restored_by_three_keys(
    signed_in: Page, ada: Caller, workflow: int
) -> None:
    page, row_id = signed_in, rewritten(ada, workflow, *STATES)
    go(page, f"/admin/memory/scratchpad/{row_id}/revisions/")
    for target, key in (
        (page.get_by_label("From revision 1"), "Space"),
        (page.get_by_label("To revision 3"), "Enter"),
        (page.get_by_role("button", name="Restore revision 1"), "Enter"),
    ):
        target.focus()
        page.keyboard.press(key)
        page.wait_for_load_state()
    expect(page.get_by_text("Revision 1 was restored.")).to_be_visible()
    assert Scratchpad.unscoped.get().content == STATES[0]


def test_a_pad_is_edited_while_others_write(signed_in: Page, ada: Caller, ben: Caller, workflow: int) -> None:
    page = signed_in
    go(page, f"/admin/memory/workflow/{workflow}/")
    page.get_by_role("link", name="Add a scratchpad").click()
    page.get_by_label("Name").fill("code_analysis")
    page.get_by_role("textbox", name="Content").fill("發現 3 個主要問題")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".ctx-markdown")).to_contain_text("發現 3 個主要問題")
    row = Scratchpad.unscoped.get()

    append_to_scratchpad(caller=ben, scratchpad_id=row.pk, content="by ben")
    page.get_by_label("Add at the end").fill("by vera")
    page.get_by_role("button", name="Append").click()
    expect(page.locator(".ctx-markdown")).to_contain_text("by vera")
    expect(page.locator(".ctx-markdown")).to_contain_text("by ben")

    page.get_by_role("link", name="Edit").click()
    append_to_scratchpad(caller=ben, scratchpad_id=row.pk, content="late")
    page.get_by_role("textbox", name="Content").fill("all new")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("ben has changed it while you were editing it")).to_be_visible()
    expect(page.get_by_role("textbox", name="Content")).to_have_value("all new\n\nlate")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".ctx-markdown")).to_contain_text("late")
    row.refresh_from_db()
    assert (row.content, row.revision) == ("all new\n\nlate", 5)


def test_a_workflow_is_closed_and_reopened(signed_in: Page, ada: Caller, workflow: int) -> None:
    page = signed_in
    create_scratchpad(caller=ada, workflow_id=workflow, name="plan")
    go(page, f"/admin/memory/workflow/{workflow}/")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("1 workflow is closed")).to_be_visible()
    page.get_by_role("link", name="plan").first.click()
    expect(page.get_by_role("button", name="Append")).to_have_count(0)
    go(page, f"/admin/memory/workflow/{workflow}/")
    page.get_by_role("button", name="Reopen").click()
    expect(page.get_by_text("1 workflow is open again")).to_be_visible()
