"""An export that is imported gives the same export again."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.background import flush_all
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Event, Layer, PathPattern, Project, Tally
from ctxhub.core.search.index_check import find_faults
from ctxhub.core.transfer.declaration import KINDS, exported_kinds, register
from ctxhub.toolbox.dispatch import call
from memory.models import Memory, Scratchpad
from messaging.models import Message, MessageType
from tests.properties import SHARED_FIXTURES
from tests.transfer.world import HOSTILE, add_log, export_of, fill, objects_in, take, written

# Marks, the syntax of links and code, and what JSON escapes.
PIECES = st.one_of(
    st.sampled_from(
        ["[", "](", "](memory:1)", "](memory:", "`", "``", "```\n", "~~~\n", "\n", ")", " ", "\u2028"]
    ),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)
TEXTS = st.lists(PIECES, min_size=1, max_size=30).map("".join).filter(lambda text: text.strip() != "")


def test_a_new_project_has_the_same_export(full: Project, tmp_path: Path) -> None:
    lines = export_of(full)
    done = take(written(lines, tmp_path / "a.jsonl"), slug="copy")
    assert done.project
    again = export_of(done.project)
    assert objects_in(again) == objects_in(lines)
    assert again != lines
    assert facts_of(done.project) == facts_of(full)


def test_an_empty_project_gets_the_same_export(full: Project, tmp_path: Path) -> None:
    lines = export_of(full)
    empty = create_project(slug="empty")
    create_token(project=empty, agent="ben", scopes=["read"])
    create_token(project=empty, agent="nobody yet", scopes=["read"])
    take(written(lines, tmp_path / "a.jsonl"), empty)
    assert objects_in(export_of(empty)) == objects_in(lines)
    assert facts_of(empty) == facts_of(full)


def test_every_kind_is_in_the_export(full: Project) -> None:
    counts = json.loads(export_of(full)[0])["counts"]
    assert {*counts} == {each.kind for each in exported_kinds()} | {"config"}
    assert {each.kind for each in exported_kinds(with_log=True)} | {"config"} == {*KINDS}


def test_a_kind_without_a_place_in_the_order_is_refused() -> None:
    with pytest.raises(ValueError, match="KINDS"):
        register(replace(exported_kinds()[0], kind="glossary"))


def test_the_log_comes_back_and_is_past(full: Project, ada: Caller, tmp_path: Path) -> None:
    """Events that are imported pass no cursor, and stand before those of the hub."""
    call(ada, "brief", {"task": "the engine"})
    with pytest.raises(CtxhubError):
        call(ada, "decision", {"action": "set", "key": "db/engine", "value": "x", "expected_version": "9"})
    call(ada, "search", {"query": "nothinglikethat"})
    flush_all()
    add_log(full)
    lines = export_of(full, with_log=True)
    counts = json.loads(lines[0])["counts"]
    assert {*KINDS} - {*counts} == set()
    done = take(written(lines, tmp_path / "a.jsonl"), slug="copy")
    assert done.project
    again = export_of(done.project, with_log=True)
    [own] = {*objects_in(again)} - {*objects_in(lines)}
    assert json.loads(own)["data"]["verb"] == "imported"
    assert [line for line in objects_in(again) if line != own] == objects_in(lines)
    events = Event.objects.in_project(done.project)
    assert events.filter(pk__gt=0).count() == 1
    assert events.order_by("-pk")[0].verb == "imported"


@settings(SHARED_FIXTURES, max_examples=15)
@given(texts=st.lists(TEXTS, min_size=5, max_size=5))
@pytest.mark.django_db
def test_any_texts_come_back(texts: list[str], tmp_path: Path, clean_projects: None) -> None:
    number = Project.objects.count()
    source = create_project(slug=f"source-{number}")
    rest = [*texts]
    fill(
        Caller(project=source, agent="ada", keeps_secrets=True),
        Caller(project=source, agent="ben", keeps_secrets=True),
        lambda: rest.pop() if rest else HOSTILE,
    )
    lines = export_of(source)
    done = take(written(lines, tmp_path / "a.jsonl"), slug=f"copy-{number}")
    assert done.project
    assert objects_in(export_of(done.project)) == objects_in(lines)


@pytest.fixture
def clean_projects(db: None) -> None:
    """The examples share a transaction; each makes projects of its own."""


def test_links_outside_code_name_the_new_ids(full: Project, cy: Caller, tmp_path: Path) -> None:
    """The ids of the copy are others, as another project has memories already."""
    call(cy, "memory", {"action": "add", "title": "Before", "content": "x"})
    done = take(written(export_of(full), tmp_path / "a.jsonl"), slug="copy")
    assert done.project
    ada = Caller(project=done.project, agent="ada")
    one, two = (f"memory:{row.pk}" for row in Memory.objects.in_project(done.project).order_by("title"))
    assert Memory.objects.in_project(full).order_by("title")[0].pk != int(one.split(":")[1])
    text = call(ada, "get", {"refs": [two]})["items"][0]["content"]
    assert text.startswith(f"See [one]({one}), `[no](memory:")
    assert f"`[no]({one})`" not in text
    assert "and [gone](memory:999999)" not in text
    assert call(ada, "get", {"refs": [one]})["items"][0]["content"].startswith(f"Now [two]({two}) says so.")
    reply = Message.objects.in_project(done.project).get(text="yes")
    assert reply.payload == {"see": one, "n": [1]}
    request = Message.objects.in_project(done.project).get(type=MessageType.REQUEST)
    assert request.result_refs == ["decision:db/engine", two]


def test_states_of_a_pad_end_where_they_ended(full: Project, cy: Caller, tmp_path: Path) -> None:
    """Its links have longer ids in the copy, so every state ends at another character."""
    for _ in range(12):
        call(cy, "memory", {"action": "add", "title": "Before", "content": "x"})
    done = take(written(export_of(full), tmp_path / "a.jsonl"), slug="copy")
    assert done.project
    states = states_of(full)
    assert len(states) == 5
    assert states_of(done.project) == states


def states_of(project: Project) -> list[str]:
    """The states of the pad, with one word for all ids."""
    ada = Caller(project=project, agent="ada")
    [pad] = Scratchpad.objects.in_project(project)
    asked = {"action": "revisions", "scratchpad_id": pad.pk}
    found = [
        call(ada, "scratchpad", {**asked, "revision": number})["scratchpad"]["content"]
        for number in range(1, pad.revision + 1)
    ]
    return [re.sub(r"memory:\d+", "memory:N", text) for text in found]


def facts_of(project: Project) -> tuple[Counter[tuple[str, str, int]], Counter[tuple[str, str, int]]]:
    """What follows from the rows: counters, globs, and an index without faults."""
    assert not find_faults([project.pk], everything=True)
    layers = dict(Layer.objects.in_project(project).values_list("pk", "name"))
    tallies = Tally.objects.in_project(project).exclude(count=0)
    counts = Counter({(row.noun, layers.get(row.layer, ""), row.status): row.count for row in tallies})
    patterns = PathPattern.objects.in_project(project).values_list("kind", "pattern", "position")
    return counts, Counter(patterns)
