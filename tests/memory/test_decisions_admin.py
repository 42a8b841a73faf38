"""Decisions in the admin: found, read, changed by people."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.decisions.rows.decisions import DecisionRow
from memory.decisions.selectors.decisions import find_decision
from memory.decisions.services.decisions import deprecate_decision, set_decision
from memory.models import Decision, DecisionRevision
from tests.people import ADMIN, VIEWER, member

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/decision/"
KEY = "api/auth/method"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def decided(ada: Caller) -> DecisionRow:
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
    """The form of the edit page as a browser sends it back untouched: every end of a line as CRLF."""
    form = client.get(edit_page(row)).context["adminform"].form
    sent = {name: form[name].value() for name in form.fields}
    texts = {name: value for name, value in sent.items() if isinstance(value, str)}
    return {
        **sent,
        **{name: "\r\n".join(text.splitlines() + [""] * text.endswith("\n")) for name, text in texts.items()},
    }


def save(client: Client, row: DecisionRow, form: Mapping[str, Any]) -> str:
    """Send the form; the text of the page that follows."""
    return client.post(edit_page(row), form, follow=True).content.decode()


# -- Found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=JWT", True),
        ("?q=any+worker", True),
        ("?q=stateless+workers", True),
        ("?q=stateless+jw", True),
        ("?q=jw+stateless", False),
        ("?q=api/auth/met", True),
        ("?q=mutual+security", True),
        ("?q=JWT+-stateless", False),
        ("?q=%2B%2B", False),
        (f"?q=decision:{KEY}", True),
        ("?q=decision:api/auth", False),
        ("?q=decision:", False),
        ("?q=nothing", False),
        ("?q=+", True),
        ("?tag=Security", True),
        ("?tag=nosuch", False),
        ("?scope=api/auth", True),
        ("?layer=business", True),
        ("?layer=data", False),
        ("?agent=ada", True),
        ("?agent=ben", False),
        ("?status__exact=1", True),
        ("?status__exact=2", False),
        ("?project=apollo", True),
    ],
)
def test_a_list_is_searched_and_filtered(
    query: str, found: bool, client: Client, decided: DecisionRow
) -> None:
    page = client.get(LIST + query)
    assert page.context["cl"].result_count == int(found)


def test_chinese_words_are_found_in_a_list(client: Client, ada: Caller, decided: DecisionRow) -> None:
    set_decision(caller=ada, key="快取/策略", value="服務效能瓶頸")
    for typed, found in (("效能", 1), ("服務效能", 1), ("能效", 0), ("快", 1)):
        assert client.get(LIST, {"q": typed}).context["cl"].result_count == found


def test_a_list_finds_nothing_of_a_project_the_person_is_not_in(
    client: Client, cy: Caller, decided: DecisionRow
) -> None:
    set_decision(caller=cy, key="moon", value="JWT")
    assert client.get(LIST, {"q": "JWT"}).context["cl"].result_count == 1
    assert client.get(LIST, {"q": "moon"}).context["cl"].result_count == 0


def test_whoever_sees_all_projects_finds_in_all_or_in_one(
    admin_client: Client, cy: Caller, decided: DecisionRow
) -> None:
    set_decision(caller=cy, key="moon", value="JWT")
    assert admin_client.get(LIST, {"q": "JWT"}).context["cl"].result_count == 2
    assert admin_client.get(LIST, {"q": "JWT", "project": "hermes"}).context["cl"].result_count == 1


def test_a_new_decision_that_may_be_there_already_is_pointed_out(
    client: Client, decided: DecisionRow
) -> None:
    form = {"key": "auth/api/method", "value": "x", "kind": "text", "status": "active", "seen_revision": 0}
    page = client.post(f"{LIST}add/", form, follow=True).content.decode()
    assert f"There may already be a decision on this: {KEY}." in page


def test_a_row_tells_its_story(client: Client, decided: DecisionRow) -> None:
    text = client.get(LIST).content.decode()
    assert all(
        part in text
        for part in ("method</code>", "JWT", "1.0.0", "active", "business", "security", "ada", "just now")
    )


@pytest.mark.parametrize("page", ["", "{id}/", "{id}/change/", "{id}/history/", "{id}/deprecate/"])
def test_no_page_asks_for_each_row(page: str, client: Client, ada: Caller, decided: DecisionRow) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST + page.format(id=decided.id)).status_code == 200
        return len(queries)

    count()  # Django looks its content types up once.
    for number in range(5):
        add_rows(ada, number)
    few = count()
    for number in range(5, 50):
        add_rows(ada, number)
    assert count() == few


def add_rows(caller: Caller, number: int) -> None:
    """One decision more, one version more of the one that is looked at, one more that it supersedes."""
    set_decision(
        caller=caller, key=f"key/{number}", value=number, tags=[f"tag-{number}"], scopes=["s"], layer="data"
    )
    set_decision(caller=Caller(caller.project, f"agent-{number}"), key=KEY, value=f"value {number}")
    deprecate_decision(caller=caller, key=f"key/{number}", superseded_by=KEY)


# -- Read ------------------------------------------------------------------------------------------


def test_the_page_says_what_was_decided_and_why(client: Client, decided: DecisionRow) -> None:
    text = client.get(f"{LIST}{decided.id}/").content.decode()
    assert "<strong>Sessions</strong>: one more store" in text
    assert all(
        part in text for part in ("any worker checks it.", "Mutual TLS", "no store", "OPS-7", "src/auth/**")
    )


def test_the_page_links_what_supersedes_it(client: Client, ada: Caller, decided: DecisionRow) -> None:
    set_decision(caller=ada, key="api/old", value="Basic")
    deprecate_decision(caller=ada, key="api/old", reason="Passwords travelled.", superseded_by=KEY)
    old = read(ada, "api/old")
    page = client.get(f"{LIST}{old.id}/").content.decode()
    assert "Passwords travelled." in page
    assert f'href="{LIST}{decided.id}/">{KEY}</a>' in page
    assert f'href="{LIST}{old.id}/">api/old</a>' in client.get(f"{LIST}{decided.id}/").content.decode()


def test_the_history_says_what_each_version_changed(
    client: Client, ben: Caller, decided: DecisionRow
) -> None:
    set_decision(caller=ben, key=KEY, value="OAuth", tags=["api", "testing"], layer="data")
    text = client.get(f"{LIST}{decided.id}/history/").content.decode()
    for was, is_now in (("JWT", "OAuth"), ("security", "testing"), ("business", "data")):
        assert f'<del class="ctx-entry">{was}</del>' in text
        assert f'<ins class="ctx-entry">{is_now}</ins>' in text
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


def test_a_number_that_became_a_text_is_a_change(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value=5)
    set_decision(caller=ada, key=KEY, value="5")
    text = client.get(f"{LIST}{read(ada).id}/history/").content.decode()
    assert '<del class="ctx-entry">5</del>' in text
    assert '<ins class="ctx-entry">&quot;5&quot;</ins>' in text


def test_a_long_history_comes_in_pages(client: Client, ada: Caller) -> None:
    for number in range(45):
        set_decision(caller=ada, key=KEY, value=number)
    pages = [client.get(f"{LIST}{read(ada).id}/history/?page={n}") for n in (1, 2, 3)]
    assert [len(page.context["steps"]) for page in pages] == [20, 20, 5]
    assert [page.context["steps"][0].version.state["value"] for page in pages] == [44, 24, 4]
    assert pages[1].context["steps"][-1].changes[0].before == "4"
    assert pages[2].context["steps"][-1].is_first


# -- Changed ---------------------------------------------------------------------------------------


def test_a_form_sent_back_untouched_changes_nothing(
    client: Client, ada: Caller, decided: DecisionRow
) -> None:
    save(client, decided, form_of(client, decided))
    assert read(ada) == decided
    assert not DecisionRevision.unscoped.exists()


@pytest.mark.parametrize(
    "value",
    ["\n starts and ends with blanks \n", "ends of lines\r\nas in DOS\r\n", "", 5, 5.5, 10**20, 1e300],
)
def test_values_of_every_kind_come_back_untouched(value: Any, client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value=value)
    before = read(ada)
    save(client, before, {**form_of(client, before), "tags": "touched"})
    assert (read(ada).value, read(ada).value_type) == (before.value, before.value_type)
    assert read(ada).tags == ["touched"]


@pytest.mark.parametrize(
    ("kind", "typed", "stored"),
    [("text", "7", "7"), ("number", " 7 ", 7), ("number", "7.50", 7.5), ("number", "-3", -3)],
)
def test_a_person_chooses_the_type_of_a_value(
    kind: str, typed: str, stored: object, client: Client, ada: Caller, decided: DecisionRow
) -> None:
    save(client, decided, {**form_of(client, decided), "value": typed, "kind": kind})
    assert read(ada).typed_value == stored
    assert read(ada).version == "1.0.1"


@pytest.mark.parametrize("typed", ["seven", "", "1_000", "nan", "inf", "9" * 5000])
def test_what_is_no_number_stands_on_the_form(
    typed: str, client: Client, ada: Caller, decided: DecisionRow
) -> None:
    page = save(client, decided, {**form_of(client, decided), "value": typed, "kind": "number"})
    assert "Please correct the error" in page
    assert read(ada) == decided


def test_a_change_is_the_persons_own(client: Client, ada: Caller, decided: DecisionRow) -> None:
    save(client, decided, {**form_of(client, decided), "value": "OAuth"})
    event = Event.unscoped.select_related("agent").latest("pk")
    assert (str(event.agent), event.verb, event.ref) == ("vi", "updated", f"decision:{KEY}")
    assert read(ada).agent == "vi"


def test_only_what_the_person_touched_changes(client: Client, ada: Caller, decided: DecisionRow) -> None:
    save(client, decided, {**form_of(client, decided), "tags": 'api, "quoted, twice", new', "layer": ""})
    row = read(ada)
    assert (row.tags, row.layer) == (["api", "new", "quoted", "twice"], None)
    assert Event.unscoped.latest("pk").data["changed"] == ["layer", "tags"]


def test_reasons_are_typed_as_lines(client: Client, ada: Caller, decided: DecisionRow) -> None:
    typed = {
        "alternatives": "Sessions | one more store\r\nBasic | it travels\r\nNothing",
        "pros": "no store\r\nfast",
        "paths": "src/auth/**\r\nsrc/api/**",
    }
    save(client, decided, {**form_of(client, decided), **typed})
    row = read(ada)
    assert list(row.alternatives) == [
        {"option": "Sessions", "why_not": "one more store", "by": "ben"},
        {"option": "Basic", "why_not": "it travels"},
        "Nothing",
    ]
    assert row.tradeoffs == {"pros": ["no store", "fast"], "cons": ["short | lived"]}
    assert row.paths == ["src/auth/**", "src/api/**"]


def test_metadata_is_exactly_what_was_typed(client: Client, ada: Caller, decided: DecisionRow) -> None:
    save(client, decided, {**form_of(client, decided), "metadata": '{"ticket": "OPS-8"}'})
    assert read(ada).metadata == {"ticket": "OPS-8"}


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("metadata", "[1, 2]", "Write a JSON object"),
        ("metadata", "[" * 100_000, "Write a JSON object"),
        ("paths", "/etc/passwd", "must be relative"),
        ("tags", ",".join(f"t{n}" for n in range(60)), "the limit is 50"),
        ("value", "x" * 70_000, "the limit is 65,536"),
        ("value", "a\x00b", "Null characters are not allowed"),
        ("value", "AKIAIOSFODNN7EXAMPLE is the key", "credential"),
        ("layer", "nosuch", "Select a valid choice"),
        ("seen_revision", "", "Please correct the error"),
    ],
)
def test_a_refusal_stands_on_the_form_and_changes_nothing(
    field: str, typed: str, said: str, client: Client, ada: Caller, decided: DecisionRow
) -> None:
    page = client.post(edit_page(decided), {**form_of(client, decided), field: typed})
    assert page.status_code == 200
    assert said in page.content.decode()
    assert read(ada) == decided


def test_an_administrator_may_store_what_looks_like_a_credential(
    apollo: Project, ada: Caller, decided: DecisionRow
) -> None:
    admin = member(apollo, ADMIN, "boss")
    save(admin, decided, {**form_of(admin, decided), "value": "AKIAIOSFODNN7EXAMPLE is the key"})
    assert "AKIA" in read(ada).value


# -- Two at once -----------------------------------------------------------------------------------


def test_a_change_meanwhile_is_shown_and_nothing_is_lost(
    client: Client, ada: Caller, ben: Caller, decided: DecisionRow
) -> None:
    form = {**form_of(client, decided), "rationale": "My own words."}
    set_decision(caller=ben, key=KEY, value="OAuth")
    page = save(client, decided, form)
    assert "ben has changed this decision while you were editing it" in page
    assert '<ins class="ctx-entry">OAuth</ins>' in page
    assert "My own words." in page
    assert (read(ada).value, read(ada).rationale) == ("OAuth", decided.rationale)


@pytest.mark.parametrize(
    "theirs", [{"value": "OAuth"}, {"value": "JWT", "tags": ["theirs"]}, {"value": "JWT", "version": "2.0.0"}]
)
def test_saving_again_keeps_their_change_beside_mine(
    theirs: dict[str, Any], client: Client, ada: Caller, ben: Caller, decided: DecisionRow
) -> None:
    form = {**form_of(client, decided), "rationale": "My own words."}
    set_decision(caller=ben, key=KEY, **theirs)
    shown = client.post(edit_page(decided), form).context["adminform"].form
    save(client, decided, {name: shown[name].value() for name in shown.fields})
    row = read(ada)
    assert (row.value, row.rationale) == (theirs["value"], "My own words.")
    assert row.tags == theirs.get("tags", ["api", "security"])


def test_a_decision_deleted_meanwhile_is_said_to_be_gone(
    client: Client, ada: Caller, decided: DecisionRow
) -> None:
    form = form_of(client, decided)
    Decision.unscoped.all().delete()
    page = client.post(edit_page(decided), {**form, "value": "OAuth"}, follow=True)
    assert "doesn’t exist. Perhaps it was deleted?" in page.content.decode()


# -- Added, deprecated, deleted --------------------------------------------------------------------


def test_a_decision_is_added_as_typed(client: Client, ada: Caller) -> None:
    form = {
        "key": " db/pool ",
        "value": "20",
        "kind": "number",
        "status": "draft",
        "tags": "database, new",
        "seen_revision": 0,
    }
    answer = client.post(f"{LIST}add/", {**form, "layer": "data", "rationale": "Enough."})
    row = read(ada, "db/pool")
    assert answer["Location"] == f"{LIST}{row.id}/"
    assert (row.typed_value, row.status_label, row.layer, row.tags) == (
        20,
        "draft",
        "data",
        ["database", "new"],
    )
    assert (row.agent, row.rationale) == ("vi", "Enough.")


@pytest.mark.parametrize("key", [KEY, f"  {KEY} "])
def test_adding_never_changes_a_decision_that_is_there(
    key: str, client: Client, ada: Caller, decided: DecisionRow
) -> None:
    form = {"key": key, "value": "mine", "kind": "text", "status": "active", "seen_revision": 0}
    page = client.post(f"{LIST}add/", form)
    assert "There is a decision" in page.content.decode()
    assert read(ada) == decided


def test_deprecating_asks_why_and_what_stands_instead(
    client: Client, ada: Caller, decided: DecisionRow
) -> None:
    set_decision(caller=ada, key="api/new", value="OAuth")
    url = f"{LIST}{decided.id}/deprecate/"
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
def test_an_impossible_successor_stands_on_the_form(
    successor: str, client: Client, ada: Caller, decided: DecisionRow
) -> None:
    page = client.post(f"{LIST}{decided.id}/deprecate/", {"confirmed": "yes", "superseded_by": successor})
    assert page.status_code == 200
    assert read(ada) == decided


def test_several_are_deprecated_together_or_not_at_all(client: Client, ada: Caller) -> None:
    keys = ("a", "b", "c")
    rows = [set_decision(caller=ada, key=key, value=1)["id"] for key in keys]
    sent = {"action": "deprecate_selected", "_selected_action": rows, "reason": "Old."}
    assert "Deprecate 3 decisions" in client.post(LIST, sent).content.decode()
    client.post(LIST, {**sent, "confirmed": "yes", "superseded_by": "nosuch"})
    assert {read(ada, key).status_label for key in keys} == {"active"}
    client.post(LIST, {**sent, "confirmed": "yes"})
    assert {read(ada, key).status_label for key in keys} == {"deprecated"}


def test_a_deprecated_decision_is_revived_by_its_status(
    client: Client, ada: Caller, decided: DecisionRow
) -> None:
    deprecate_decision(caller=ada, key=KEY, reason="Old.")
    save(client, decided, {**form_of(client, decided), "status": "active"})
    assert (read(ada).status_label, read(ada).reason) == ("active", "")


def test_a_decision_is_not_ended_by_its_form(client: Client, ada: Caller, decided: DecisionRow) -> None:
    page = save(client, decided, {**form_of(client, decided), "status": "deprecated"})
    assert "To end a decision, use Deprecate on its page. It asks for the reason." in page
    assert read(ada) == decided
    form = {"key": "new", "value": "x", "kind": "text", "status": "deprecated", "seen_revision": 0}
    assert "It asks for the reason." in client.post(f"{LIST}add/", form).content.decode()
    assert find_decision(ada.project_id, "new") is None


def test_a_deprecated_decision_can_be_edited_as_it_is(
    client: Client, ada: Caller, decided: DecisionRow
) -> None:
    deprecate_decision(caller=ada, key=KEY, reason="Old.")
    save(client, decided, {**form_of(client, decided), "rationale": "It was stateless."})
    row = read(ada)
    assert (row.rationale, row.status_label, row.reason) == ("It was stateless.", "deprecated", "Old.")


def test_deleting_leaves_an_event(apollo: Project, ada: Caller, decided: DecisionRow) -> None:
    admin = member(apollo, ADMIN, "boss")
    admin.post(f"{LIST}{decided.id}/delete/", {"post": "yes"})
    assert find_decision(ada.project_id, KEY) is None
    event = Event.unscoped.select_related("agent").latest("pk")
    assert (event.verb, str(event.agent)) == ("deleted", "boss")


def test_a_viewer_is_led_to_the_page_for_reading(apollo: Project, decided: DecisionRow) -> None:
    answer = member(apollo, VIEWER, "reader").get(edit_page(decided))
    assert answer["Location"] == f"{LIST}{decided.id}/"


@pytest.mark.parametrize("said", [{}, {"reason": "  \n"}])
def test_deprecating_without_a_reason_or_an_heir_is_asked_again(
    said: dict[str, str], client: Client, ada: Caller, decided: DecisionRow
) -> None:
    page = client.post(f"{LIST}{decided.id}/deprecate/", {"confirmed": "yes", **said})
    assert "Say why, or name the decision that stands in its place." in page.content.decode()
    assert read(ada) == decided


def test_what_an_agent_deprecated_without_a_reason_says_so(
    client: Client, ada: Caller, decided: DecisionRow
) -> None:
    deprecate_decision(caller=ada, key=KEY)
    assert "No reason was given." in client.get(f"{LIST}{decided.id}/").content.decode()
    assert "already deprecated" in client.get(f"{LIST}{decided.id}/deprecate/").content.decode()


# -- What could mislead ----------------------------------------------------------------------------


def test_metadata_stands_apart_from_what_the_hub_knows(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value=1, metadata={"Updated": "yesterday", "größe": {"ü": [1, None]}})
    page = client.get(f"{LIST}{read(ada).id}/").content.decode()
    facts, _, metadata = page.partition('<h2 class="ctx-heading">Metadata</h2>')
    assert "yesterday" not in facts
    assert '<dt class="ctx-mono">Updated</dt>' in metadata
    assert "&quot;ü&quot;: [" in metadata


def test_a_text_without_blanks_does_not_widen_the_list(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key="long", value="x" * 600)
    assert f'<span class="ctx-preview">{"x" * 120}…</span>' in client.get(LIST).content.decode()


def test_short_texts_with_much_in_common_are_woven(client: Client, ada: Caller) -> None:
    for minutes in (15, 10):
        set_decision(caller=ada, key=KEY, value=f"JWT, for {minutes} minutes")
    text = client.get(f"{LIST}{read(ada).id}/history/").content.decode()
    assert "JWT, for <del>15</del><ins>10</ins> minutes" in text


def test_an_old_version_can_be_read_in_whole(client: Client, ada: Caller) -> None:
    for value in ("first words", "second words", "third words"):
        set_decision(caller=ada, key=KEY, value=value, rationale=f"Why the {value}.")
    text = client.get(f"{LIST}{read(ada).id}/history/").content.decode()
    assert text.count("<details") == 2
    assert '<div class="ctx-prose">Why the first words.</div>' in text


# -- Filters that are seen -------------------------------------------------------------------------


def test_a_tag_narrows_the_list_further(client: Client, decided: DecisionRow) -> None:
    page = client.get(LIST + "?project=apollo&q=JWT&layer=business&p=1").content.decode()
    assert 'href="?layer=business&amp;project=apollo&amp;q=JWT&amp;tag=security"' in page


def test_active_filters_are_shown_and_can_be_taken_away(client: Client, decided: DecisionRow) -> None:
    cl = client.get(LIST + "?status__exact=1&tag=api&q=JWT&o=1").context["cl"]
    shown = [(found.title, found.value, found.url) for found in cl.active_filters()]
    assert shown == [
        ("status", "active", "?o=1&q=JWT&tag=api"),
        ("tag", "api", "?o=1&q=JWT&status__exact=1"),
    ]


def test_a_part_of_a_name_finds_what_no_whole_name_does(
    client: Client, ada: Caller, decided: DecisionRow
) -> None:
    set_decision(caller=ada, key="other", value=1, tags=["secure", "api-v2"])
    found = {
        query: client.get(f"{LIST}?{query}").context["cl"].result_count for query in ("tag=SECUR", "tag=api")
    }
    assert found == {"tag=SECUR": 2, "tag=api": 1}
