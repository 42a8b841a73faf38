"""Direct links as sentences, for every source and both ends, and the panel that shows them."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.console import links
from ctxhub.console.refs import pages_of
from ctxhub.core.hub.direct_links import DirectLinks, find_direct_links
from ctxhub.core.hub.refs import find_keys
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.constraints.services import add_constraint
from memory.decisions.services import delete_decision
from memory.models import Relationship
from memory.relationships.services import relate
from tests.core.linked import decide, done, remember, rest_on, supersede
from tests.memory.snapshots import save
from tests.messaging.mail import known, send
from tests.people import ADMIN, member

ICON = re.compile(r'<span class="material-symbols-outlined".*?</span>')
Said = list[tuple[str, str, str]]
NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture(autouse=True)
def agents(ada: Caller, ben: Caller) -> None:
    known(ada, ben)


def links_of(caller: Caller, ref: str, **options: Any) -> DirectLinks | None:
    return find_direct_links(caller.project_id, find_keys(caller.project_id, [ref])[ref], **options)


def said(caller: Caller, ref: str) -> tuple[Said, Said]:
    """The links of an object with its causes and its effects, as sentences about it."""
    found = links_of(caller, ref)
    assert found is not None
    start = find_keys(caller.project_id, [ref])[ref]
    left, right = (
        [
            (ref, edge.words_from(start), neighbour.head.refs[0])
            for neighbour in side
            for edge in neighbour.edges
        ]
        for side in (found.causes, found.effects)
    )
    return left, right


# -- Sentences -------------------------------------------------------------------------------------


def links_of_each_kind(ada: Caller, ben: Caller) -> dict[str, tuple[str, str, str, str]]:
    """By name: the cause, the effect, what the effect says of the cause, and what the cause says."""
    old, new, plan, result = decide(ada, "old", "new", "plan", "result")
    supersede(ada, "old", "new")
    first = send(ada)
    reply = send(ben, reply_to=first)
    request = done(ada, ben, result)
    root = save(ada)
    last = save(ada, caused_by=root)
    other = save(ada, dependencies=[root])
    base, note, blocker, whole, part = remember(ada, "base", "note", "blocker", "whole", "part")
    rest_on(ada, base, note)
    rest_on(ada, plan, note, relation="references")
    relate(caller=ada, source=blocker, target=plan, relation="blocks")
    relate(caller=ada, source=whole, target=part, relation="includes")
    return {
        "superseded_by": (new, old, "is superseded by", "supersedes"),
        "reply_to": (f"message:{first}", f"message:{reply}", "replies to", "is answered by"),
        "result_refs": (request, result, "is a result of", "resulted in"),
        "caused_by": (f"snapshot:{root}", f"snapshot:{last}", "was caused by", "led to"),
        "depends_on of snapshots": (f"snapshot:{root}", f"snapshot:{other}", "depends on", "is needed by"),
        "depends_on": (base, note, "depends on", "is needed by"),
        "references": (plan, note, "references", "is referenced by"),
        "blocks": (blocker, plan, "is blocked by", "blocks"),
        "includes": (part, whole, "includes", "is part of"),
    }


def test_links_of_every_source_read_as_true_sentences_from_both_ends(ada: Caller, ben: Caller) -> None:
    for name, (cause, effect, of_effect, of_cause) in links_of_each_kind(ada, ben).items():
        assert (effect, of_effect, cause) in said(ada, effect)[0], name
        assert (cause, of_cause, effect) in said(ada, cause)[1], name


def test_every_line_leads_from_the_holder_in_the_words_of_the_holder(ada: Caller, ben: Caller) -> None:
    forwards = {
        "is superseded by", "replies to", "resulted in", "was caused by", "depends on", "references",
        "blocks", "includes",
    }  # fmt: skip
    drawn = set()
    for cause, effect, of_effect, of_cause in links_of_each_kind(ada, ben).values():
        words = of_effect if of_effect in forwards else of_cause
        holder, other = (effect, cause) if words == of_effect else (cause, effect)
        for ref in (cause, effect):
            key = find_keys(ada.project_id, [ref])[ref]
            found = links_of(ada, ref)
            assert found is not None
            lines = links._links(key, found).drawings[0].lines
            assert (holder, words, other) in {
                (link.source, link.words, link.target) for line in lines for link in line.tie.links
            }
        drawn.add(words)
    assert drawn == forwards


def test_what_is_related_is_shown_once_and_reads_the_same_from_both_ends(ada: Caller) -> None:
    one, other = remember(ada, "one", "other")
    relate(caller=ada, source=one, target=other, relation="related")
    for here, there in ((one, other), (other, one)):
        assert said(ada, here) == ([(here, "is related to", there)], [])


def test_two_links_with_one_neighbour_are_one_line_of_two_sentences(ada: Caller) -> None:
    [plan], [note] = decide(ada, "plan"), remember(ada)
    rest_on(ada, plan, note)
    relate(caller=ada, source=note, target=plan, relation="blocks")
    assert said(ada, plan) == ([(plan, "is blocked by", note), (plan, "is needed by", note)], [])
    found = links_of(ada, plan)
    assert found is not None
    [line] = links._links(find_keys(ada.project_id, [plan])[plan], found).drawings[0].lines
    assert (line.strength, len(line.arrows)) == ("+1", 1)


def test_neighbours_are_the_newest_first_and_deleted_ones_are_left_out(ada: Caller) -> None:
    [note] = remember(ada)
    with time_machine.travel(NINE) as time:
        for hour, key in ((9, "a"), (11, "b"), (10, "c"), (12, "d")):
            time.move_to(NINE.replace(hour=hour))
            rest_on(ada, *decide(ada, key), note)
    delete_decision(caller=ada, key="d")
    assert [other for *_, other in said(ada, note)[0]] == ["decision:b", "decision:c", "decision:a"]


def test_links_are_read_up_to_a_limit(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxhub.core.hub.direct_links.MOST_LINKS", 2)
    [plan], notes = decide(ada, "plan"), remember(ada, "a", "b", "c")
    for note in notes:
        rest_on(ada, plan, note)
    found = links_of(ada, plan)
    assert found is not None
    assert (len(found.effects), found.is_cut) == (2, True)


# -- The panel -------------------------------------------------------------------------------------


def text_of(html: str, section: str = "links") -> str:
    part = html.partition(f'id="{section}"')[2].partition("</section>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", ICON.sub("", part)).split())


def read(client: Client, caller: Caller, ref: str) -> str:
    return client.get(pages_of(caller.project_id, [ref])[ref]).content.decode()


def test_an_object_without_links_has_no_panel(ada: Caller, apollo: Project) -> None:
    [plan] = decide(ada, "plan")
    assert 'id="links"' not in read(member(apollo), ada, plan)


def test_pages_of_all_kinds_show_their_links(ada: Caller, ben: Caller, apollo: Project) -> None:
    rule = f"constraint:{add_constraint(caller=ada, category='security', text='No plain text.')['id']}"
    [plan], [note] = decide(ada, "api/auth"), remember(ada, "Tokens leak")
    relate(caller=ada, source=plan, target=rule, relation="depends_on")
    rest_on(ada, note, plan, relation="references")
    request = done(ada, ben, plan, rule, note)
    client = member(apollo)
    assert "depends on constraint No plain text." in text_of(read(client, ada, plan))
    assert "is needed by decision api/auth" in text_of(read(client, ada, rule))
    assert "resulted in decision api/auth" in text_of(read(client, ada, request))
    memory = text_of(read(client, ada, note))
    assert "is a result of message do it" in memory
    assert "api/auth" not in memory  # That stands in the graph of its relationships.


def test_a_snapshot_keeps_its_own_graph(ada: Caller, apollo: Project) -> None:
    root = save(ada, summary="Root")
    last = save(ada, caused_by=root, summary="Last")
    [note] = remember(ada, "Note")
    rest_on(ada, f"snapshot:{last}", note)
    html = read(member(apollo), ada, f"snapshot:{last}")
    assert "Root" in text_of(html, "causes")
    assert "is needed by memory Note" in text_of(html)
    assert "Root" not in text_of(html)


def test_the_newest_are_drawn_and_the_rest_counted(ada: Caller, apollo: Project) -> None:
    [plan], notes = decide(ada, "plan"), remember(ada, *(f"note {n}" for n in range(30)))
    for note in notes:
        rest_on(ada, plan, note)
    html = read(member(apollo), ada, plan)
    assert html.count('class="ctx-node"') == 2 * 12
    assert "The newest are drawn; 18 more are not." in text_of(html)
    assert "and 5 others." in text_of(html)


def test_hostile_names_stay_text(ada: Caller, apollo: Project) -> None:
    [plan], [note] = decide(ada, "plan"), remember(ada, "</text></svg><script>alert(1)</script>")
    rest_on(ada, plan, note)
    html = read(member(apollo), ada, plan)
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_what_another_project_links_is_never_shown(ada: Caller, cy: Caller, apollo: Project) -> None:
    known(cy)
    [plan], [own] = decide(ada, "plan"), remember(ada, "Own")
    decide(cy, "plan")
    [secret] = remember(cy, "Moonshot")
    relate(caller=cy, source=secret, target="decision:plan", relation="references")
    client = member(apollo)
    assert 'id="links"' not in read(client, ada, plan)
    rest_on(ada, plan, own)
    # A stray row that names objects of two projects.
    row = Relationship.objects.in_project(cy.project_id).get()
    Relationship.unscoped.filter(pk=row.pk).update(
        project=apollo,
        target_id=Relationship.objects.in_project(apollo).get().target_id,
    )
    html = read(client, ada, plan)
    assert "Own" in text_of(html)
    assert "Moonshot" not in html


def test_queries_do_not_grow_with_the_links(ada: Caller, ben: Caller, apollo: Project) -> None:
    rules = [
        f"constraint:{add_constraint(caller=ada, category='security', text=text)['id']}"
        for text in ("a", "b", "c", "d")
    ]
    keys, notes = decide(ada, "a", "b", "c", "d"), remember(ada, "a", "b", "c", "d")
    snapshots = [f"snapshot:{save(ada)}" for _ in range(4)]
    counts: dict[str, list[int]] = {}
    client = member(apollo, ADMIN)
    for refs in zip(rules, keys, notes, snapshots, strict=True):
        for ref in refs:
            for other in (rules[0], keys[0], notes[0], snapshots[0]):
                if ref != other:
                    rest_on(ada, ref, other)
        request = done(ada, ben, rules[0], keys[0], notes[0], snapshots[0])
        for ref in (rules[0], keys[0], notes[0], snapshots[0], request):
            read(client, ada, ref)
            url = pages_of(ada.project_id, [ref])[ref]
            with CaptureQueriesContext(connection) as queries:
                client.get(url)
            counts.setdefault(ref.partition(":")[0], []).append(len(queries))
    for kind, (first, *_, last) in counts.items():
        assert first == last, kind
        assert last <= 26, kind
