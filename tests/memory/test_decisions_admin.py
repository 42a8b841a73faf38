"""Decisions in the admin: history, values of every type, concurrent edits, deprecating."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.queries import find_decision
from memory.decisions.rows import DecisionRow
from memory.decisions.services import deprecate_decision, set_decision
from memory.models import Decision
from tests.marks import unmarked
from tests.people import ADMIN, member

AWS_KEY = "AKIA" + "Q7LM2XWY4NPR5TVB"

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/decision/"
KEY = "api/auth/method"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def decision(ada: Caller) -> DecisionRow:
    set_decision(
        caller=ada,
        key=KEY,
        value="JWT",
        layer="business",
        tags=["api", "security"],
        scopes=["api/auth"],
        paths=["src/auth/**"],
        rationale="Stateless:\nany worker checks it.",
        alternatives=[{"option": "Sessions", "why_not": "one more store", "by": "ben"}, "Mutual TLS"],
        tradeoffs={"pros": ["no store"], "cons": ["short | lived"]},
        metadata={"ticket": "OPS-7", "team": "auth"},
    )
    return read(ada)


def read(caller: Caller, key: str = KEY) -> DecisionRow:
    row = find_decision(caller.project_id, key)
    assert row
    return row


def edit_page(row: DecisionRow) -> str:
    return f"{LIST}{row.id}/change/"


def form_of(client: Client, row: DecisionRow) -> dict[str, Any]:
    """The unchanged form of the edit page as a browser sends it: line ends as CRLF."""
    form = client.get(edit_page(row)).context["adminform"].form
    sent = {name: form[name].value() for name in form.fields}
    texts = {name: value for name, value in sent.items() if isinstance(value, str)}
    return {
        **sent,
        **{name: "\r\n".join(text.splitlines() + [""] * text.endswith("\n")) for name, text in texts.items()},
    }


def save(client: Client, row: DecisionRow, form: Mapping[str, Any]) -> str:
    """Sends the form and returns the text of the following page."""
    return client.post(edit_page(row), form, follow=True).content.decode()


# -- Lists -----------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_chinese_words_are_found_in_a_list(client: Client, ada: Caller, decision: DecisionRow) -> None:
    set_decision(caller=ada, key="快取/策略", value="服務效能瓶頸")
    for query, found in (("效能", 1), ("服務效能", 1), ("能效", 0), ("快", 1)):
        assert client.get(LIST, {"q": query}).context["cl"].result_count == found


def test_a_superuser_searches_all_projects_or_one(
    admin_client: Client, cy: Caller, decision: DecisionRow
) -> None:
    set_decision(caller=cy, key="moon", value="JWT")
    assert admin_client.get(LIST, {"q": "JWT"}).context["cl"].result_count == 2
    assert admin_client.get(LIST, {"q": "JWT", "project": "hermes"}).context["cl"].result_count == 1


def test_adding_a_similar_key_shows_a_warning(client: Client, decision: DecisionRow) -> None:
    form = {"key": "auth/api/method", "value": "x", "kind": "text", "status": "active", "seen_revision": 0}
    page = client.post(f"{LIST}add/", form, follow=True).content.decode()
    assert f"Similar decisions already exist: {KEY}." in page


# -- Pages -----------------------------------------------------------------------------------------


def test_pages_link_a_decision_and_its_successor(client: Client, ada: Caller, decision: DecisionRow) -> None:
    set_decision(caller=ada, key="api/old", value="Basic")
    deprecate_decision(caller=ada, key="api/old", reason="Passwords travelled.", superseded_by=KEY)
    old = read(ada, "api/old")
    page = client.get(f"{LIST}{old.id}/").content.decode()
    assert "Passwords travelled." in page
    assert f'href="{LIST}{decision.id}/">{KEY}</a>' in page
    assert f'href="{LIST}{old.id}/">api/old</a>' in client.get(f"{LIST}{decision.id}/").content.decode()


def test_the_history_shows_what_each_version_changed(
    client: Client, ben: Caller, decision: DecisionRow
) -> None:
    set_decision(caller=ben, key=KEY, value="OAuth", tags=["api", "testing"], layer="data")
    text = client.get(f"{LIST}{decision.id}/history/").content.decode()
    for before, after in (("JWT", "OAuth"), ("security", "testing"), ("business", "data")):
        assert f'<del class="ctx-entry">{before}</del>' in text
        assert f'<ins class="ctx-entry">{after}</ins>' in text
    assert '<del class="ctx-entry">api</del>' not in text
    assert text.index("1.0.1") < text.index("1.0.0")


def test_a_long_value_shows_only_the_lines_that_changed(client: Client, ada: Caller) -> None:
    lines = [f"step {number} of the runbook is to do the thing" for number in range(200)]
    set_decision(caller=ada, key=KEY, value="\n".join(lines))
    lines[100] = "step 100 is left out"
    set_decision(caller=ada, key=KEY, value="\n".join(lines))
    text = client.get(f"{LIST}{read(ada).id}/history/").content.decode()
    assert "<ins>step 100 is left out\n</ins>" in text
    assert "98 unchanged lines" in text


def test_a_change_from_number_to_text_is_shown(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value=5)
    set_decision(caller=ada, key=KEY, value="5", numeric=False)
    text = client.get(f"{LIST}{read(ada).id}/history/").content.decode()
    assert '<del class="ctx-entry">5</del>' in text
    assert '<ins class="ctx-entry">&quot;5&quot;</ins>' in text


def test_a_text_that_is_a_number_stays_a_text_where_a_person_has_said_so(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value=5)
    page = client.get(f"{LIST}{read(ada).id}/change/")
    data = {**page.context["adminform"].form.initial, "value": "7", "kind": "text"}
    client.post(f"{LIST}{read(ada).id}/change/", {k: v for k, v in data.items() if isinstance(v, str | int)})
    assert read(ada).typed_value == "7"


def test_the_history_is_paged(client: Client, ada: Caller) -> None:
    for number in range(45):
        set_decision(caller=ada, key=KEY, value=number)
    pages = [client.get(f"{LIST}{read(ada).id}/history/?page={n}") for n in (1, 2, 3)]
    assert [len(page.context["steps"]) for page in pages] == [20, 20, 5]
    assert [page.context["steps"][0].version.state["value"] for page in pages] == [44, 24, 4]
    assert pages[1].context["steps"][-1].changes[0].before == "4"
    assert pages[2].context["steps"][-1].is_first


# -- Editing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    ["\n starts and ends with blanks \n", "ends of lines\r\nas in DOS\r\n", "", 5, 5.5, 10**20, 1e300],
)
def test_values_of_every_type_survive_the_form(value: Any, client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value=value)
    before = read(ada)
    save(client, before, {**form_of(client, before), "tags": "touched"})
    assert (read(ada).value, read(ada).value_type) == (before.value, before.value_type)
    assert read(ada).tags == ["touched"]


@pytest.mark.parametrize(
    ("kind", "submitted", "stored"),
    [("text", "7", "7"), ("number", " 7 ", 7), ("number", "7.50", 7.5), ("number", "-3", -3)],
)
def test_a_person_chooses_the_type_of_a_value(
    kind: str, submitted: str, stored: object, client: Client, ada: Caller, decision: DecisionRow
) -> None:
    save(client, decision, {**form_of(client, decision), "value": submitted, "kind": kind})
    assert read(ada).typed_value == stored
    assert read(ada).version == "1.0.1"


@pytest.mark.parametrize("submitted", ["seven", "", "1_000", "nan", "inf", "9" * 5000])
def test_an_invalid_number_is_refused_by_the_form(
    submitted: str, client: Client, ada: Caller, decision: DecisionRow
) -> None:
    page = save(client, decision, {**form_of(client, decision), "value": submitted, "kind": "number"})
    assert "Please correct the error" in page
    assert read(ada) == decision


def test_alternatives_are_entered_one_per_line(client: Client, ada: Caller, decision: DecisionRow) -> None:
    submitted = "Sessions | one more store\r\nBasic | it travels\r\nNothing"
    save(client, decision, {**form_of(client, decision), "alternatives": submitted})
    assert list(read(ada).alternatives) == [
        {"option": "Sessions", "why_not": "one more store", "by": "ben"},
        {"option": "Basic", "why_not": "it travels"},
        "Nothing",
    ]


def test_an_administrator_may_store_what_looks_like_a_credential_by_saying_so(
    apollo: Project, ada: Caller, decision: DecisionRow
) -> None:
    admin = member(apollo, ADMIN, "boss")
    form = {**form_of(admin, decision), "value": f"{AWS_KEY} is the key"}
    assert (
        "Store it although it looks like a credential"
        in admin.post(edit_page(decision), form).content.decode()
    )
    assert read(ada) == decision

    save(admin, decision, {**form, "allow_secret": "true"})
    assert "AKIA" in read(ada).value


# -- Concurrent edits ------------------------------------------------------------------------------


def test_a_concurrent_change_is_shown_beside_the_entered_fields(
    client: Client, ada: Caller, ben: Caller, decision: DecisionRow
) -> None:
    form = {**form_of(client, decision), "rationale": "My own words."}
    set_decision(caller=ben, key=KEY, value="OAuth")
    page = save(client, decision, form)
    assert re.search(r">ben</a> has changed this decision while you were editing it", unmarked(page))
    assert '<ins class="ctx-entry">OAuth</ins>' in page
    assert "My own words." in page
    assert (read(ada).value, read(ada).rationale) == ("OAuth", decision.rationale)


@pytest.mark.parametrize(
    "their_changes",
    [{"value": "OAuth"}, {"value": "JWT", "tags": ["theirs"]}, {"value": "JWT", "version": "2.0.0"}],
)
def test_saving_after_a_conflict_keeps_both_changes(
    their_changes: dict[str, Any], client: Client, ada: Caller, ben: Caller, decision: DecisionRow
) -> None:
    form = {**form_of(client, decision), "rationale": "My own words."}
    set_decision(caller=ben, key=KEY, **their_changes)
    shown = client.post(edit_page(decision), form).context["adminform"].form
    save(client, decision, {name: shown[name].value() for name in shown.fields})
    row = read(ada)
    assert (row.value, row.rationale) == (their_changes["value"], "My own words.")
    assert row.tags == their_changes.get("tags", ["api", "security"])


def test_saving_a_deleted_decision_shows_that_it_does_not_exist(
    client: Client, ada: Caller, decision: DecisionRow
) -> None:
    form = form_of(client, decision)
    Decision.unscoped.all().delete()
    page = client.post(edit_page(decision), {**form, "value": "OAuth"}, follow=True)
    assert "doesn’t exist. Perhaps it was deleted?" in page.content.decode()


# -- Adding, deprecating, deleting -----------------------------------------------------------------


@pytest.mark.parametrize("key", [KEY, f"  {KEY} "])
def test_adding_an_existing_key_is_refused(
    key: str, client: Client, ada: Caller, decision: DecisionRow
) -> None:
    form = {"key": key, "value": "mine", "kind": "text", "status": "active", "seen_revision": 0}
    page = client.post(f"{LIST}add/", form)
    assert "already exists. Open it to change it." in page.content.decode()
    assert read(ada) == decision


def test_deprecating_stores_the_reason_and_the_successor(
    client: Client, ada: Caller, decision: DecisionRow
) -> None:
    set_decision(caller=ada, key="api/new", value="OAuth")
    url = f"{LIST}{decision.id}/deprecate/"
    assert '<option value="api/new">' in client.get(url).content.decode()
    client.post(url, {"confirmed": "yes", "reason": "Too old.", "superseded_by": "api/new"})
    row = read(ada)
    assert (row.status_label, row.reason, row.superseded_by, row.agent) == (
        "deprecated",
        "Too old.",
        "api/new",
        "vi",
    )


@pytest.mark.parametrize("successor", ["nosuch", KEY])
def test_an_invalid_successor_is_refused_by_the_form(
    successor: str, client: Client, ada: Caller, decision: DecisionRow
) -> None:
    page = client.post(f"{LIST}{decision.id}/deprecate/", {"confirmed": "yes", "superseded_by": successor})
    assert page.status_code == 200
    assert read(ada) == decision


def test_a_list_action_deprecates_all_or_none(client: Client, ada: Caller) -> None:
    keys = ("a", "b", "c")
    rows = [set_decision(caller=ada, key=key, value=1)["id"] for key in keys]
    sent = {"action": "deprecate_selected", "_selected_action": rows, "reason": "Old."}
    assert "Deprecate 3 decisions" in client.post(LIST, sent).content.decode()
    client.post(LIST, {**sent, "confirmed": "yes", "superseded_by": "nosuch"})
    assert {read(ada, key).status_label for key in keys} == {"active"}
    client.post(LIST, {**sent, "confirmed": "yes"})
    assert {read(ada, key).status_label for key in keys} == {"deprecated"}


def test_setting_the_status_to_active_revives_a_deprecated_decision(
    client: Client, ada: Caller, decision: DecisionRow
) -> None:
    deprecate_decision(caller=ada, key=KEY, reason="Old.")
    save(client, decision, {**form_of(client, decision), "status": "active"})
    assert (read(ada).status_label, read(ada).reason) == ("active", "")


def test_the_form_does_not_deprecate(client: Client, ada: Caller, decision: DecisionRow) -> None:
    page = save(client, decision, {**form_of(client, decision), "status": "deprecated"})
    assert "To end a decision, use Deprecate on its page. It asks for the reason." in page
    assert read(ada) == decision
    form = {"key": "new", "value": "x", "kind": "text", "status": "deprecated", "seen_revision": 0}
    assert "It asks for the reason." in client.post(f"{LIST}add/", form).content.decode()
    assert find_decision(ada.project_id, "new") is None


def test_a_deprecated_decision_can_be_edited_and_stays_deprecated(
    client: Client, ada: Caller, decision: DecisionRow
) -> None:
    deprecate_decision(caller=ada, key=KEY, reason="Old.")
    save(client, decision, {**form_of(client, decision), "rationale": "It was stateless."})
    row = read(ada)
    assert (row.rationale, row.status_label, row.reason) == ("It was stateless.", "deprecated", "Old.")


@pytest.mark.parametrize("fields", [{}, {"reason": "  \n"}])
def test_deprecating_needs_a_reason_or_a_successor(
    fields: dict[str, str], client: Client, ada: Caller, decision: DecisionRow
) -> None:
    page = client.post(f"{LIST}{decision.id}/deprecate/", {"confirmed": "yes", **fields})
    assert "Enter a reason, or the decision that replaces it." in page.content.decode()
    assert read(ada) == decision


def test_pages_of_a_decision_deprecated_without_a_reason_say_so(
    client: Client, ada: Caller, decision: DecisionRow
) -> None:
    deprecate_decision(caller=ada, key=KEY)
    assert "No reason was given." in client.get(f"{LIST}{decision.id}/").content.decode()
    assert "already deprecated" in client.get(f"{LIST}{decision.id}/deprecate/").content.decode()


# -- Display ---------------------------------------------------------------------------------------


def test_metadata_is_shown_apart_from_the_fields(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value=1, metadata={"Updated": "yesterday", "größe": {"ü": [1, None]}})
    page = client.get(f"{LIST}{read(ada).id}/").content.decode()
    fields, _, metadata = page.partition('<h2 class="ctx-heading">Metadata</h2>')
    assert "yesterday" not in fields
    assert '<dt class="ctx-mono">Updated</dt>' in metadata
    assert "&quot;ü&quot;: [" in metadata


def test_the_list_truncates_a_long_text_without_spaces(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key="long", value="x" * 600)
    assert f">{'x' * 120}…</span>" in client.get(LIST).content.decode()


def test_similar_short_texts_are_shown_as_an_inline_diff(client: Client, ada: Caller) -> None:
    for minutes in (15, 10):
        set_decision(caller=ada, key=KEY, value=f"JWT, for {minutes} minutes")
    text = client.get(f"{LIST}{read(ada).id}/history/").content.decode()
    assert "JWT, for <del>15</del><ins>10</ins> minutes" in text


def test_the_history_shows_old_versions_in_full(client: Client, ada: Caller) -> None:
    for value in ("first words", "second words", "third words"):
        set_decision(caller=ada, key=KEY, value=value, rationale=f"Why the {value}.")
    text = client.get(f"{LIST}{read(ada).id}/history/").content.decode()
    assert text.count("<details") == 2
    assert '<div class="ctx-prose">Why the first words.</div>' in text


# -- Filters ---------------------------------------------------------------------------------------


def test_a_tag_link_keeps_the_active_filters(client: Client, decision: DecisionRow) -> None:
    page = client.get(LIST + "?project=apollo&q=JWT&layer=business&p=1").content.decode()
    assert 'href="?layer=business&amp;project=apollo&amp;q=JWT&amp;tag=security"' in page


def test_active_filters_are_shown_with_links_that_remove_them(client: Client, decision: DecisionRow) -> None:
    cl = client.get(LIST + "?status__exact=1&tag=api&q=JWT&o=1").context["cl"]
    shown = [(active.title, active.value, active.url) for active in cl.active_filters()]
    assert shown == [
        ("status", "active", "?o=1&q=JWT&tag=api"),
        ("tag", "api", "?o=1&q=JWT&status__exact=1"),
    ]


@pytest.mark.every_engine
def test_a_tag_filter_without_an_equal_name_matches_parts_of_names(
    client: Client, ada: Caller, decision: DecisionRow
) -> None:
    set_decision(caller=ada, key="other", value=1, tags=["secure", "api-v2"])
    found = {
        query: client.get(f"{LIST}?{query}").context["cl"].result_count for query in ("tag=SECUR", "tag=api")
    }
    assert found == {"tag=SECUR": 2, "tag=api": 1}
