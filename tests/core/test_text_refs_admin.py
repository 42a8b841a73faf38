"""Refs in the texts of pages become links to the rows that exist in the project."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.console.markdown import REL, SANITISER, read_markdown
from ctxhub.console.refs import pages_of
from ctxhub.console.text_refs import pages_of_texts
from ctxhub.core.hub import text_refs
from ctxhub.core.hub.text_refs import refs_in
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.templatetags.refs import linked
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from memory.scratchpads.services import create_scratchpad
from memory.workflows.services import create_workflow
from tests.core.linked import decide, done, remember
from tests.hostile import HOSTILE
from tests.memory.snapshots import save
from tests.messaging.mail import known, send
from tests.people import member

PAGE = "/admin/memory/decision/1/"
PAGES = {"decision:api/auth": PAGE, "memory:7": "/admin/memory/memory/7/"}
LINK = f'<a class="ctx-link" href="{PAGE}">decision:api/auth</a>'


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("See decision:api/auth, memory:7.", ["decision:api/auth", "memory:7"]),
        ("(message:12) [scratchpad:3]: **snapshot:4**", ["message:12", "scratchpad:3", "snapshot:4"]),
        ("resource:src/api.py! context:Läufe", ["resource:src/api.py", "context:Läufe"]),
        ("https://e.example/?a=decision:x http://e.example/decision:y www.e.example/memory:1", []),
        ("mydecision:x x/decision:y x-decision:z decision: decision:. nothing:1 Decision:x", []),
    ],
)
def test_refs_are_found_in_texts(text: str, refs: list[str]) -> None:
    assert [each.ref for each in refs_in(text)] == refs
    assert [text[each.start : each.end] for each in refs_in(text)] == refs


def test_a_text_has_its_refs_and_urls_as_links_and_the_rest_escaped() -> None:
    html = linked("<b> decision:api/auth, decision:none & https://e.example/decision:api/auth", PAGES)
    assert html == (
        f"&lt;b&gt; {LINK}, decision:none &amp; "
        '<a href="https://e.example/decision:api/auth">https://e.example/decision:api/auth</a>'
    )


def test_markdown_has_refs_as_links_outside_of_code_and_links() -> None:
    source = (
        "See *decision:api/auth* and `memory:7`, not `memory:7 x` or memory:8.\n\n"
        "    memory:7\n\n[memory:7](https://e.example/) https://e.example/memory:7\n"
    )
    html = read_markdown(source, PAGES).html
    own = f'<a href="{PAGE}" rel="{REL}">decision:api/auth</a>'
    assert f"<em>{own}</em>" in html
    assert f'<a href="/admin/memory/memory/7/" rel="{REL}"><code>memory:7</code></a>' in html
    assert html.count('href="/admin/') == 2
    assert html.count('href="https://e.example/') == 2


WORDS = f'<a class="ctx-link" href="{PAGE}" title="decision:api/auth"><bdi>{{}}</bdi></a>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("See [why](decision:api/auth).", f"See {WORDS.format('why')}."),
        ("[a] [b <i>](decision:api/auth)[c]", f"[a] {WORDS.format('b &lt;i&gt;')}[c]"),
        ("[x](decision:api/auth)[y](decision:api/auth)", WORDS.format("x") + WORDS.format("y")),
        ("[why](decision:none)", "[why](decision:none)"),
        ("[ ](decision:api/auth)", f"[ ]({LINK})"),
        ("why](decision:api/auth)", f"why]({LINK})"),
        ("[why\nnot](decision:api/auth)", f"[why\nnot]({LINK})"),
        (f"[{'x' * 999}](decision:api/auth)", f"[{'x' * 999}]({LINK})"),
        ("[why](decision:api/auth x)", f"[why]({LINK} x)"),
    ],
)
def test_words_before_a_ref_in_brackets_are_its_link(text: str, html: str) -> None:
    assert linked(text, PAGES) == html


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("[why](decision:api/auth)", f'<a href="{PAGE}" rel="{REL}">why</a>'),
        ("[*why*](<decision:api/auth> 'x')", f'<a href="{PAGE}" rel="{REL}"><em>why</em></a>'),
        ("[why][1]\n\n[1]: decision:api/auth", f'<a href="{PAGE}" rel="{REL}">why</a>'),
        ("<decision:api/auth>", f'<a href="{PAGE}" rel="{REL}">decision:api/auth</a>'),
        ("[that](memory:7)", f'<a href="/admin/memory/memory/7/" rel="{REL}">that</a>'),
        ("[läuft](decision:läufe/ä)", f'<a href="/admin/2/" rel="{REL}">läuft</a>'),
        ("[why](decision:none)", "why <code>decision:none</code>"),
        ("![why](decision:api/auth)", "[picture: why]"),
        ("[x](javascript:memory:7)", "[x](javascript:memory:7)"),
        ("[x](memory:7&#10;javascript:1)", "x <code>memory:7%0Ajavascript:1</code>"),
    ],
)
def test_a_link_of_markdown_leads_to_a_ref(source: str, html: str) -> None:
    shown = read_markdown(source, {**PAGES, "decision:läufe/ä": "/admin/2/"}).html.strip()
    assert shown == f"<p>{html}</p>"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_around_refs_stay_text(text: str) -> None:
    pages = {**PAGES, "memory:1": "/admin/memory/memory/1/"}
    plain = linked(f"{text} memory:1 {text}", pages)
    assert set(re.findall(r"<(/?\w+)", plain)) <= {"a", "/a"}
    for html in (plain, read_markdown(f"{text} memory:1\n\nmemory:1 {text}", pages).html):
        assert "<script" not in html.lower()
        assert "javascript:" not in " ".join(re.findall(r'href="([^"]*)"', html)).lower()


@pytest.mark.parametrize(
    "target", ["//evil.example/", "/other/", "admin/", "?a", "#x", "javascript:alert(1)"]
)
def test_the_sanitiser_keeps_no_relative_links_but_those_to_the_admin(target: str) -> None:
    assert "href" not in SANITISER.clean(f'<a href="{target}">x</a>')
    assert 'href="/admin/x/"' in SANITISER.clean('<a href="/admin/x/">x</a>')


# -- Which rows ------------------------------------------------------------------------------------


def test_only_existing_rows_of_the_project_have_pages(ada: Caller, cy: Caller) -> None:
    known(ada, cy)
    [plan], [note] = decide(ada, "api/auth"), remember(ada)
    [secret], [theirs] = decide(cy, "moon"), remember(cy)
    text = f"{plan} {note} {secret} {theirs} memory:999999 decision:none memory:x snapshot:0"
    assert set(pages_of_texts(ada.project_id, [text])) == {plan, note}
    assert pages_of_texts(ada.project_id, [text]) == pages_of(ada.project_id, [plan, note])


def test_many_refs_take_one_query_for_each_kind(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = remember(ada, *(f"n{n}" for n in range(9)))
    keys = decide(ada, *(f"k{n}" for n in range(9)))
    with CaptureQueriesContext(connection) as queries:
        found = pages_of_texts(ada.project_id, [" ".join([*notes, *keys])])
    assert (len(found), len(queries)) == (18, 2)
    monkeypatch.setattr(text_refs, "MOST_REFS", 10)
    assert len(pages_of_texts(ada.project_id, [*notes, *keys])) == 10


def test_a_long_text_of_refs_is_read_quickly() -> None:
    assert len(list(refs_in("decision:" * 20_000))) <= 20_000


def test_pages_of_all_kinds_link_the_refs_in_their_texts(ada: Caller, ben: Caller, apollo: Project) -> None:
    known(ada, ben)
    [plan] = decide(ada, "api/auth")
    text = f"Because of {plan}, not decision:none."
    rule = add_constraint(caller=ada, category="security", text=text, reason=text)["id"]
    set_decision(
        caller=ada,
        key="other",
        value=text,
        rationale=text,
        alternatives=[text, {"option": "x", "why_not": text}],
        tradeoffs={"pros": [text], "cons": [text]},
    )
    workflow = create_workflow(caller=ada, name="w")["workflow_id"]
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="p", content=text)
    pages = {
        f"constraint:{rule}": 2,
        "decision:other": 6,
        f"memory:{add_memory(caller=ada, title='x', content=text)['id']}": 1,
        f"snapshot:{save(ada, text, rationale=text)}": 2,
        f"scratchpad:{pad['scratchpad_id']}": 1,
        f"message:{send(ada, text)}": 1,
        # And in the message that tells who asked.
        done(ada, ben, plan): 2,
    }
    client = member(apollo)
    url = pages_of(apollo.pk, [plan])[plan]
    for ref, count in pages.items():
        html = client.get(pages_of(apollo.pk, [ref])[ref]).content.decode()
        assert html.count(f'href="{url}"') == count, ref
        assert "decision:none</a>" not in html
