"""Scratchpads in the admin: raw text, revisions, appending, concurrent edits, large pads, finding words."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.console.find import MARKED
from ctxhub.console.markdown import LINES_RENDERED
from ctxhub.console.numbered_lines import LINES_SHOWN, numbered_lines
from ctxhub.console.revisions import STATES_SHOWN
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.models import Scratchpad, ScratchpadRevision
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad, update_scratchpad
from memory.workflows.services import close_workflow, create_workflow
from tests.marks import unmarked
from tests.people import member
from tests.tables import dump_project
from tests.timing import within_cpu_seconds

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/scratchpad/"
TEXT = "# Findings\n\nThe query is *slow*, see https://tracker.example/7.\n\n## 效能\n\n- [x] profiled\n"
SIZE = 1_048_576


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def pad(ada: Caller) -> Scratchpad:
    workflow = create_workflow(caller=ada, name="Refactoring")["workflow_id"]
    create_scratchpad(caller=ada, workflow_id=workflow, name="code_analysis", content=TEXT)
    return Scratchpad.objects.in_project(ada.project).get()


def page_of(pad: Scratchpad, rest: str = "") -> str:
    return f"{LIST}{pad.pk}/{rest}"


def append(caller: Caller, pad: Scratchpad, content: str) -> None:
    append_to_scratchpad(caller=caller, scratchpad_id=pad.pk, content=content, separator="")


def rewrite(caller: Caller, pad: Scratchpad, content: str) -> None:
    update_scratchpad(caller=caller, scratchpad_id=pad.pk, content=content)


def text_of(pad: Scratchpad) -> str:
    pad.refresh_from_db()
    return pad.content


def shown(client: Client, pad: Scratchpad, rest: str = "") -> str:
    page = client.get(page_of(pad, rest))
    assert page.status_code == 200
    return page.content.decode()


def difference(html: str) -> str:
    """The difference that the revisions page shows for the chosen revision."""
    [found] = re.findall(r'(?s)<div class="ctx-value ctx-difference"[^>]*>(.*?)</div>', html)
    return str(found)


def last_event(project: Project) -> tuple[str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, str(event.agent)


# -- List ------------------------------------------------------------------------------------------


def test_a_row_shows_who_wrote_last(client: Client, ben: Caller, pad: Scratchpad) -> None:
    append(ben, pad, "more")
    assert ">ben<" in client.get(LIST).content.decode().partition('id="result_list"')[2]


def test_a_list_does_not_read_the_texts(client: Client, ada: Caller, pad: Scratchpad) -> None:
    with CaptureQueriesContext(connection) as queries:
        client.get(LIST)
    assert not [query["sql"] for query in queries if '"memory_scratchpad"."content"' in query["sql"]]


# -- Page ------------------------------------------------------------------------------------------


def test_the_raw_text_has_a_number_and_an_anchor_for_each_line(client: Client, pad: Scratchpad) -> None:
    text = shown(client, pad, "raw/")
    assert '<li id="L3"><a href="#L3" data-line="3" aria-label="Line 3"></a><code>The query is *slow*' in text
    assert "7 lines" in text


def test_long_raw_texts_are_paged_by_line() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 2 * LINES_SHOWN + 6))
    for line, first, last in (("", 1, LINES_SHOWN), (f"{LINES_SHOWN + 1}", LINES_SHOWN + 1, 2 * LINES_SHOWN)):
        page = numbered_lines(text, line)
        assert (page.first, page.last, page.total) == (first, last, 2 * LINES_SHOWN + 5)
    page = numbered_lines(text, "999999999")
    assert (page.first, page.last, page.before, page.after) == (4_001, 4_005, 2_001, None)
    for nonsense in ("0", "-1", "x", "9" * 30):
        assert numbered_lines(text, nonsense).first == 1


def test_an_empty_pad_says_so(client: Client, ada: Caller, pad: Scratchpad) -> None:
    rewrite(ada, pad, "")
    for rest in ("", "raw/"):
        assert "It is empty." in shown(client, pad, rest)


def test_a_search_result_links_to_the_page(client: Client, pad: Scratchpad) -> None:
    found = client.get("/admin/search/?project=apollo&q=profiled").content.decode()
    assert f'href="{page_of(pad)}"' in found


# -- Revisions -------------------------------------------------------------------------------------


def test_each_revision_shows_its_agent_and_the_change_in_length(
    client: Client, ada: Caller, ben: Caller, pad: Scratchpad
) -> None:
    append(ben, pad, "four")
    rewrite(ada, pad, "short")
    lines = client.get(page_of(pad, "revisions/")).context["lines"]
    assert [(line.state.revision, line.change, line.state.agent, line.delta) for line in lines] == [
        (3, "rewritten", "ada", 5 - len(TEXT) - 4),
        (2, "appended", "ben", 4),
        (1, "created", "ada", len(TEXT)),
    ]
    assert [line.is_present for line in lines] == [True, False, False]


def test_a_revision_is_compared_with_the_previous_and_the_present_one(
    client: Client, ada: Caller, pad: Scratchpad
) -> None:
    rewrite(ada, pad, "one two three")
    rewrite(ada, pad, "one 2 three")
    rewrite(ada, pad, "one 2 three four")
    assert difference(shown(client, pad, "revisions/")) == "one 2 three<ins> four</ins>"
    assert difference(shown(client, pad, "revisions/?state=3")) == "one <del>two</del><ins>2</ins> three"
    since = difference(shown(client, pad, "revisions/?state=2&against=present"))
    assert since == "one <del>two</del><ins>2</ins> three<ins> four</ins>"
    assert difference(shown(client, pad, "revisions/?state=2&against=whole")) == "one two three"
    assert re.search(
        r"created by <a [^>]*>ada</a>", unmarked(shown(client, pad, "revisions/?state=1")).lower()
    )


def test_any_two_revisions_are_compared_and_each_is_offered(
    client: Client, ada: Caller, pad: Scratchpad
) -> None:
    for text in ("one two three", "one 2 three", "one 2 three four"):
        rewrite(ada, pad, text)
    for query in ("from=2&to=4", "from=4&to=2", "from=2"):
        html = shown(client, pad, f"revisions/?{query}")
        assert difference(html) == "one <del>two</del><ins>2</ins> three<ins> four</ins>", query
        assert 'aria-label="From revision 2" checked' in html
        assert 'aria-label="To revision 4" aria-pressed="true"' in html
    assert re.findall(r"Restore revision (\d)", shown(client, pad, "revisions/?from=1&to=3")) == ["1", "3"]
    assert difference(shown(client, pad, "revisions/?to=3")) == "one <del>two</del><ins>2</ins> three"
    assert difference(shown(client, pad, "revisions/?from=3&to=3")) == "one 2 three"


@pytest.mark.parametrize("query", ["from=1&to=99", "from=99&to=1", "to=99", "from=99", "from=x&to=99"])
def test_an_unknown_handle_is_named(query: str, client: Client, pad: Scratchpad) -> None:
    assert "There is no revision 99" in shown(client, pad, f"revisions/?{query}")


def test_handles_on_other_pages_of_the_list_are_kept(client: Client, ben: Caller, pad: Scratchpad) -> None:
    for n in range(2 * STATES_SHOWN):
        append(ben, pad, f"{n}\n")
    page = client.get(page_of(pad, f"revisions/?from=2&to=60&before={STATES_SHOWN + 10}")).context
    for lines, number in (("newer_lines", 60), ("older_lines", 2)):
        assert [line.state.revision for line in page[lines]] == [number]
    html = shown(client, pad, "revisions/?from=2&to=60")
    assert 'aria-label="From revision 2" checked' in html
    assert 'aria-label="To revision 60" aria-pressed="true"' in html
    assert '<input type="hidden" name="to" value="60">' in html


@pytest.mark.parametrize("state", ["0", "99", "x", "-1", "9" * 30, ""])
def test_an_unknown_revision_breaks_nothing(state: str, client: Client, pad: Scratchpad) -> None:
    text = shown(client, pad, f"revisions/?state={state}&before={state}&against={state}&from=0&to=x")
    assert ("There is no revision 99" in text) == (state == "99")


def test_revisions_are_paged(client: Client, ben: Caller, pad: Scratchpad) -> None:
    for n in range(STATES_SHOWN + 2):
        append(ben, pad, f"{n}\n")
    first = client.get(page_of(pad, "revisions/")).context
    assert (len(first["lines"]), first["older"]) == (STATES_SHOWN, 4)
    assert {line.delta for line in first["lines"]} <= {2, 3}
    second = client.get(page_of(pad, "revisions/?before=4")).context
    assert [line.state.revision for line in second["lines"]] == [3, 2, 1]
    assert second["older"] is None


def test_the_page_works_without_revisions(client: Client, ada: Caller, pad: Scratchpad) -> None:
    append(ada, pad, "x")
    ScratchpadRevision.objects.in_project(ada.project).filter(number=1).delete()
    [line] = client.get(page_of(pad, "revisions/")).context["lines"]
    assert line.delta is None
    ScratchpadRevision.objects.in_project(ada.project).all().delete()
    assert "No revisions are kept." in shown(client, pad, "revisions/")


def test_a_revision_is_restored_by_a_button(client: Client, ben: Caller, pad: Scratchpad) -> None:
    rewrite(ben, pad, "all is lost")
    client.get(page_of(pad, "restore/"))
    assert text_of(pad) == "all is lost"
    done = client.post(page_of(pad, "restore/"), {"revision": 1, "seen": 2}, follow=True)
    assert "Revision 1 was restored." in done.content.decode()
    assert (text_of(pad), pad.revision, last_event(pad.project)) == (TEXT, 3, ("restored", "vi"))


def test_restoring_does_not_lose_a_concurrent_append(client: Client, ben: Caller, pad: Scratchpad) -> None:
    rewrite(ben, pad, "other")
    append(ben, pad, " and more")
    done = client.post(page_of(pad, "restore/"), {"revision": 1, "seen": 2}, follow=True)
    assert "Nothing was restored" in done.content.decode()
    assert done.redirect_chain[-1][0] == page_of(pad, "revisions/?state=1&against=present")
    assert text_of(pad) == "other and more"


@pytest.mark.parametrize(
    "sent", [{}, {"revision": "1"}, {"revision": "x", "seen": "1"}, {"revision": 9, "seen": 1}]
)
def test_an_invalid_restore_changes_nothing(sent: dict[str, Any], client: Client, pad: Scratchpad) -> None:
    before = dump_project(pad.project)
    client.post(page_of(pad, "restore/"), sent, follow=True)
    assert dump_project(pad.project) == before


# -- Appending -------------------------------------------------------------------------------------


def test_the_form_appends(client: Client, pad: Scratchpad) -> None:
    done = client.post(page_of(pad, "append/"), {"content": "one\r\ntwo"})
    assert done.headers["Location"] == page_of(pad, "#end")
    assert text_of(pad) == f"{TEXT}\n\none\ntwo"
    assert last_event(pad.project) == ("appended", "vi")


def test_forms_keep_the_line_ends_of_a_pad(client: Client, ada: Caller, pad: Scratchpad) -> None:
    update_scratchpad(caller=ada, scratchpad_id=pad.pk, content="one\r\ntwo")
    client.post(page_of(pad, "append/"), {"content": "a\r\nb"})
    assert text_of(pad) == "one\r\ntwo\r\n\r\na\r\nb"
    pad.refresh_from_db()
    client.post(page_of(pad, "change/"), {"content": "one\r\nand\r\ntwo", "seen": pad.revision})
    assert text_of(pad) == "one\r\nand\r\ntwo"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("", "must not be empty"), ("ghp_" + "a1B2" * 9, "seems to hold a credential")],
)
def test_refused_text_stays_in_the_text_box(
    content: str, sentence: str, client: Client, pad: Scratchpad
) -> None:
    page = client.post(page_of(pad, "append/"), {"content": content})
    assert sentence in page.content.decode()
    assert f">\n{content}</textarea>" in page.content.decode().replace("\r\n", "\n")
    assert text_of(pad) == TEXT


def test_an_append_that_is_cut_is_reported(client: Client, ada: Caller, pad: Scratchpad) -> None:
    rewrite(ada, pad, "x" * (SIZE - 4))
    done = client.post(page_of(pad, "append/"), {"content": "abcdef"}, follow=True)
    assert "the last 4 were cut off" in done.content.decode()
    assert text_of(pad).endswith("x\n\nab")


# -- Forms -----------------------------------------------------------------------------------------


def test_the_form_offers_open_workflows(client: Client, ada: Caller, pad: Scratchpad) -> None:
    closed = create_workflow(caller=ada, name="Closed one")["workflow_id"]
    close_workflow(caller=ada, workflow_id=closed)
    form = client.get(f"{LIST}add/?project=apollo&workflow={pad.workflow_id}").content.decode()
    assert f'<option value="{pad.workflow_id}" selected>Refactoring ({pad.workflow_id})</option>' in form
    assert "Closed one" not in form


def test_the_51st_pad_of_a_workflow_is_refused_on_the_form(
    client: Client, ada: Caller, pad: Scratchpad
) -> None:
    for n in range(49):
        create_scratchpad(caller=ada, workflow_id=pad.workflow_id, name=f"p{n}")
    page = client.post(f"{LIST}add/", {"workflow": pad.workflow_id, "name": "one more", "content": ""})
    assert "the limit is 50" in page.content.decode()


def test_a_concurrent_append_is_added_after_the_typed_text(
    client: Client, ben: Caller, pad: Scratchpad
) -> None:
    append(ben, pad, "by ben")
    page = client.post(page_of(pad, "change/"), {"content": "typed ", "seen": 1})
    text = page.content.decode()
    assert "Nothing was saved." in text
    assert "ben has changed it while you were editing it" in text
    assert ">\ntyped by ben</textarea>" in text.replace("\r\n", "\n")
    assert text_of(pad) == f"{TEXT}by ben"
    client.post(page_of(pad, "change/"), {"content": "typed by ben", "seen": 2})
    assert text_of(pad) == "typed by ben"


def test_any_other_concurrent_change_is_shown_beside_the_typed_text(
    client: Client, ben: Caller, pad: Scratchpad
) -> None:
    rewrite(ben, pad, TEXT.replace("slow", "fast"))
    text = client.post(page_of(pad, "change/"), {"content": "typed", "seen": 1}).content.decode()
    assert "<del>slow</del><ins>fast</ins>" in text
    assert ">\ntyped</textarea>" in text.replace("\r\n", "\n")
    assert 'name="seen" value="2"' in text
    client.post(page_of(pad, "change/"), {"content": "typed", "seen": 2})
    assert text_of(pad) == "typed"


@pytest.mark.parametrize("seen", ["", "0", "7", "x", "9" * 30])
def test_a_form_of_an_unknown_revision_saves_nothing(seen: str, client: Client, pad: Scratchpad) -> None:
    page = client.post(page_of(pad, "change/"), {"content": "typed", "seen": seen})
    assert ">\ntyped</textarea>" in page.content.decode().replace("\r\n", "\n")
    assert text_of(pad) == TEXT


# -- Large pads ------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["a line of a pad\n", "快取效能服務\n", "x", "\n"])
def test_the_largest_pad_stays_usable(line: str, client: Client, ada: Caller, pad: Scratchpad) -> None:
    rewrite(ada, pad, line * (SIZE // len(line.encode()) - 3))
    append(ada, pad, "x")
    for rest in ("", "raw/", "revisions/", "revisions/?state=2&against=present", "revisions/?state=2"):
        with within_cpu_seconds(6):
            shown(client, pad, rest)
    form = {"content": text_of(pad) + "y", "seen": 3}
    assert client.post(page_of(pad, "change/"), form).status_code == 302
    assert text_of(pad).endswith("xy")


def test_the_difference_of_long_pads_takes_little_time_and_few_statements(
    client: Client, ada: Caller, pad: Scratchpad
) -> None:
    step = "- The step {} of the plan waits for the index, then for the {}.\n"
    for last in ("lease", "lock"):
        rewrite(ada, pad, "".join(step.format(n, last) for n in range(1_600)))
    assert len(text_of(pad)) > 102_400
    url = "revisions/?from=2&to=3"
    shown(client, pad, url)
    with within_cpu_seconds(1), CaptureQueriesContext(connection) as queries:
        html = shown(client, pad, url)
    assert html.count("<ins>lock</ins>") == 1_600
    assert len(queries) <= 25


def test_changes_are_linked_to_the_next_and_unchanged_lines_folded(
    client: Client, ada: Caller, pad: Scratchpad
) -> None:
    lines = [f"line {n}\n" for n in range(1, 60)]
    rewrite(ada, pad, "".join(lines))
    rewrite(ada, pad, "".join([*lines[:9], "changed\n", *lines[10:49], "too\n", *lines[50:]]))
    html = difference(shown(client, pad, "revisions/"))
    assert re.findall(r'id="change-(\d)"><span>(.*?)</span>', html) == [("1", "Line 10"), ("2", "Line 50")]
    assert re.findall(r'href="#(.*?)">(.*?)<', html) == [
        ("change-2", "Next change"),
        ("change-1", "Previous change"),
    ]
    assert re.findall(r"<summary>(.*?)<", html) == [f"{n} unchanged lines" for n in (7, 34, 6)]


def test_a_long_pad_says_how_much_is_not_rendered(client: Client, ada: Caller, pad: Scratchpad) -> None:
    rewrite(ada, pad, "some words\n" * 20_000)
    text = shown(client, pad)
    assert "more characters are not rendered" in text
    assert f'href="{page_of(pad, "raw/")}">read the raw text</a>' in text


# -- Closed workflows and rights -------------------------------------------------------------------


def test_a_pad_of_a_closed_workflow_is_read_only(client: Client, ada: Caller, pad: Scratchpad) -> None:
    rewrite(ada, pad, "second")
    close_workflow(caller=ada, workflow_id=pad.workflow_id)
    for rest in ("", "revisions/?state=1"):
        assert "closed" in shown(client, pad, rest)
        assert 'action="/admin/memory' not in shown(client, pad, rest)
    before = dump_project(pad.project)
    sent = {"content": "x", "seen": "2", "revision": "1", "post": "yes"}
    for rest in ("append/", "restore/", "change/", "delete/"):
        page = client.post(page_of(pad, rest), sent, follow=True).content.decode()
        assert "closed" in page, rest
    assert dump_project(pad.project) == before
    opened = client.get(page_of(pad, "change/"), follow=True)
    assert opened.redirect_chain[-1][0] == page_of(pad)
    assert "read-only because its workflow is closed" in opened.content.decode()


# -- Finding words ---------------------------------------------------------------------------------


def marks(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<mark id="(hit-\d+)">(.*?)</mark>', html, re.DOTALL)


@pytest.mark.parametrize(
    ("content", "words", "hits"),
    [
        ("Pool of *pools*, POOL.", "pool", ["Pool", "pool", "POOL"]),
        ("two\nwords", " two  words ", ["two\nwords"]),
        ("a & b &amp; <b>", "amp", []),
        ("a & b, R&D", "&", ["&amp;", "&amp;"]),
        ("x <script>alert(1)</script>", "<script>", ["&lt;script&gt;"]),
        ('say "it\'s"', '"it\'s"', ['"it\'s"']),
        ("[pool](https://pool.example/?a>pool)", "pool", ["pool"]),
        ("```python\ndef pool(size): ...\n```", "def pool(size)", ["def pool(size)"]),
        ("a.b axb", "a.b", ["a.b"]),
    ],
)
def test_words_are_found_in_a_pad(
    content: str, words: str, hits: list[str], client: Client, ada: Caller, pad: Scratchpad
) -> None:
    rewrite(ada, pad, content)
    html = client.get(page_of(pad), {"find": words}).content.decode()
    assert marks(html) == [(f"hit-{number}", hit) for number, hit in enumerate(hits, start=1)]
    assert "<script>alert" not in html
    assert ("Nothing found" in html) is (not hits)
    assert html.count('href="#hit-') == len(hits)


def test_what_is_not_rendered_is_counted(client: Client, ada: Caller, pad: Scratchpad) -> None:
    rewrite(ada, pad, "pool\n" + "x\n" * LINES_RENDERED + "pool\npool\n")
    html = client.get(page_of(pad), {"find": "pool"}).content.decode()
    assert len(marks(html)) == 1
    assert "1 hit, 2 more in the part that is not rendered" in html


@pytest.mark.parametrize("words", ["", "   "])
def test_without_words_nothing_is_marked(words: str, client: Client, pad: Scratchpad) -> None:
    html = client.get(page_of(pad), {"find": words}).content.decode()
    assert not marks(html)
    assert "Nothing found" not in html


def test_very_many_hits_cost_little(ada: Caller, client: Client, pad: Scratchpad) -> None:
    rewrite(ada, pad, "a " * 45_000)
    with within_cpu_seconds(2):
        html = client.get(page_of(pad), {"find": "a"}).content.decode()
    assert len(marks(html)) == MARKED
    assert "45000 hits" in html
