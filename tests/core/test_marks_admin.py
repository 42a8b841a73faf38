"""Admin pages show marks in place of characters that nobody sees; what is stored stays as it is."""

import re

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from ctxhub.console.marks import MarkInvisible, marked_page
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, Tag
from memory.decisions.services import set_decision
from memory.memories.services import add_memory, update_memory
from memory.models import Decision
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad
from memory.workflows.services import create_workflow
from messaging.messages.services import send_message
from tests.people import ADMIN, member

TURNED = "Pay \u202e0001 EUR\u202c to\u200b ada"
MARKED = "Pay ⟦U+202E⟧0001 EUR⟦U+202C⟧ to⟦U+200B⟧ ada"
FIELDS = re.compile(r"<(textarea|script)\b.*?</\1>", re.DOTALL)
RAW = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]")


@pytest.fixture
def admin(apollo: Project) -> Client:
    return member(apollo, ADMIN, "vera")


@pytest.fixture
def decision(ada: Caller) -> Decision:
    set_decision(caller=ada, key="pay/first", value="nothing", rationale="x")
    set_decision(caller=ada, key="pay/first", value=TURNED, rationale=f"**{TURNED}**")
    send_message(caller=ada, text=TURNED, to=["vera"])
    return Decision.objects.in_project(ada.project).get()


def page(admin: Client, name: str, *arguments: object) -> str:
    return admin.get(reverse(f"admin:{name}", args=arguments), follow=True).content.decode()


def test_a_text_that_turns_its_direction_is_shown_with_marks(admin: Client, decision: Decision) -> None:
    """In lists, on pages, in rendered Markdown and in the comparison with the version before."""
    for shown in (
        page(admin, "memory_decision_changelist"),
        page(admin, "memory_decision_change", decision.pk),
        page(admin, "memory_decision_history", decision.pk),
        page(admin, "messaging_message_changelist"),
    ):
        assert "⟦U+202E⟧" in shown
        assert not RAW.search(FIELDS.sub("", shown))
    assert MARKED in page(admin, "memory_decision_changelist")


def test_no_other_page_turns_its_direction(admin: Client, ada: Caller, decision: Decision) -> None:
    """The overview, what waits for a person, what was found, the lines of a text, two versions, lanes."""
    workflow = create_workflow(caller=ada, name="w")["workflow_id"]
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="p", content=TURNED)["scratchpad_id"]
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content=f"\n{TURNED}")
    note = add_memory(caller=ada, title="x", content=TURNED)["id"]
    update_memory(caller=ada, memory_id=note, content=f"{TURNED}!")
    pages = ("", "search/?q=EUR", "palette/?q=EUR", "messaging/message/for-you/", "core/event/timeline/")
    addresses = [f"/admin/{page}" for page in pages]
    addresses += [f"/admin/memory/scratchpad/{pad}/{page}" for page in ("", "raw/", "revisions/")]
    addresses += [
        f"/admin/memory/memory/{note}/{page}" for page in ("", "?text=raw", "revisions/", "delete/")
    ]
    for address in addresses:
        reply = admin.get(address, follow=True)
        assert reply.status_code == 200, address
        assert not RAW.search(FIELDS.sub("", reply.content.decode())), address


def test_pages_beside_the_admin_are_marked(client: Client, rf: RequestFactory) -> None:
    shown = MarkInvisible(lambda request: HttpResponse(f"<p>{TURNED}</p>"))(rf.get("/invitation/"))
    assert shown.content.decode() == f"<p>{MARKED}</p>"  # type: ignore[attr-defined]
    other = MarkInvisible(lambda request: HttpResponse(TURNED, content_type="text/plain"))(rf.get("/api/"))
    assert other.content.decode() == TURNED  # type: ignore[attr-defined]


def test_the_page_of_an_old_name_has_marks_in_its_title(admin: Client, decision: Decision) -> None:
    Decision.objects.in_project(decision.project).update(key="pay\u200b/first")
    shown = page(admin, "memory_decision_change", decision.pk)
    assert re.search(r"<title>[^<]*pay⟦U\+200B⟧/first", shown)
    assert "pay\u200b" not in re.sub("<[^>]*>", "", FIELDS.sub("", shown))


def test_a_form_holds_what_is_stored_with_a_note_of_the_marks(admin: Client, apollo: Project) -> None:
    tag = Tag.objects.create(project=apollo, name="ap\u200bi")
    shown = page(admin, "core_tag_change", tag.pk)
    assert 'value="ap\u200bi"' in shown
    assert "Characters that nobody sees: ap⟦U+200B⟧i</p>" in shown


def test_saving_a_form_changes_no_such_character(admin: Client, ada: Caller) -> None:
    memory_id = add_memory(caller=ada, title="x", content=TURNED)["id"]
    form = admin.get(reverse("admin:memory_memory_change", args=[memory_id])).context["adminform"].form
    assert form.initial["content"] == TURNED


def test_a_page_without_them_leaves_as_it_came(admin: Client, ada: Caller) -> None:
    set_decision(caller=ada, key="👨‍👩‍👧", value="می‌خواهم – “yes” ❤️")
    shown = page(admin, "memory_decision_changelist")
    assert "👨‍👩‍👧" in shown
    assert "می‌خواهم – “yes” ❤️" in shown
    assert "⟦" not in shown


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("<p>a\u202eb</p>", "<p>a⟦U+202E⟧b</p>"),
        ('<a title="a\u202eb" href="?q=a\u202eb">', '<a title="a⟦U+202E⟧b" href="?q=a\u202eb">'),
        ('<option value="a\u202eb">a\u202eb</option>', '<option value="a\u202eb">a⟦U+202E⟧b</option>'),
        ('<input type="hidden" value="a\u202eb">', '<input type="hidden" value="a\u202eb">'),
        ('<input value="a\u202eb" type="hidden">', '<input value="a\u202eb" type="hidden">'),
        ('<script>let a = "a\u202eb"</script>', '<script>let a = "a\u202eb"</script>'),
        (
            "<textarea>\n&lt;b&gt;\u202e</textarea>",
            '<textarea>\n&lt;b&gt;\u202e</textarea><p class="ctx-marks">'
            "Characters that nobody sees: &lt;b&gt;⟦U+202E⟧</p>",
        ),
    ],
)
def test_marks_stand_where_a_person_reads(page: str, shown: str) -> None:
    assert marked_page(page) == shown
