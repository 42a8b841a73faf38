"""Imports into projects that have something already."""

import json
from pathlib import Path

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, LimitReached
from ctxhub.core.models import Event, Origin, Project, SearchEntry
from ctxhub.core.search.index_check import find_faults
from ctxhub.core.transfer import publishing
from ctxhub.core.transfer.declaration import exported_kinds
from ctxhub.toolbox.dispatch import call
from memory.models import Decision, Memory, Scratchpad
from tests.transfer.world import add_log, export_of, objects_in, take, written


def value_of(project: Project, key: str) -> str:
    return Decision.objects.in_project(project).get(key=key).value


def test_the_same_again_changes_nothing(full: Project, tmp_path: Path) -> None:
    lines = export_of(full)
    path = written(lines, tmp_path / "a.jsonl")
    done = take(path, full)
    assert sum(done.outcome.new.values()) == 0
    assert sum(done.outcome.same.values()) == len(lines) - 2
    assert objects_in(export_of(full)) == objects_in(lines)
    copy = take(path, slug="copy").project
    again = take(path, copy)
    assert sum(again.outcome.new.values()) == 0
    assert objects_in(export_of(copy or full)) == objects_in(lines)


def test_it_comes_back_to_its_own_project(full: Project, ada: Caller, tmp_path: Path) -> None:
    """An export of the copy names the objects as the first hub does."""
    copy = take(written(export_of(full), tmp_path / "a.jsonl"), slug="copy").project
    assert copy
    call(Caller(project=copy, agent="ada"), "memory", {"action": "add", "title": "Third", "content": "new"})
    done = take(written(export_of(copy), tmp_path / "b.jsonl"), full, on_conflict="skip")
    assert done.outcome.new["memory"] == 1
    assert Memory.objects.in_project(full).filter(title="Third").count() == 1


def test_what_was_deleted_comes_back(full: Project, ada: Caller, tmp_path: Path) -> None:
    path = written(export_of(full), tmp_path / "a.jsonl")
    memory = Memory.objects.in_project(full).get(title="Second")
    call(ada, "delete", {"refs": [f"memory:{memory.pk}"]})
    done = take(path, full)
    assert done.outcome.new["memory"] == 1
    assert done.outcome.new["relationship"] == 1
    assert Memory.objects.in_project(full).get(title="Second").pk != memory.pk


def test_logs_that_count_the_same_meet(full: Project, tmp_path: Path) -> None:
    """Rows of a log are the same by their names, some of which are empty, also with other UUIDs."""
    add_log(full)
    path = written(export_of(full, with_log=True), tmp_path / "a.jsonl")
    copy = take(path, slug="copy").project
    named = [each.kind for each in exported_kinds(with_log=True) if each.is_log and each.natural]
    forgotten, _ = Origin.objects.in_project(copy or full).filter(kind__in=named).delete()
    again = take(path, copy)
    assert sum(again.outcome.same[kind] for kind in named) == forgotten >= len(named)
    assert sum(again.outcome.new.values()) == 0


class TestObjectsThatDiffer:
    @pytest.fixture
    def path(self, full: Project, ada: Caller, tmp_path: Path) -> Path:
        path = written(export_of(full), tmp_path / "a.jsonl")
        call(ada, "decision", {"action": "set", "key": "limit", "value": 9, "tags": ["other"]})
        memory = Memory.objects.in_project(full).get(title="First")
        call(ada, "memory", {"action": "update", "id": memory.pk, "content": "quite another text"})
        return path

    def test_fail_names_them_and_changes_nothing(self, path: Path, full: Project) -> None:
        before = objects_in(export_of(full, with_log=True))
        with pytest.raises(Conflict, match="2 objects of the project differ") as caught:
            take(path, full)
        assert "decision:limit" in caught.value.message
        assert objects_in(export_of(full, with_log=True)) == before
        assert Project.unscoped.filter(is_hidden=True).count() == 0

    def test_skip_leaves_them(self, path: Path, full: Project) -> None:
        done = take(path, full, on_conflict="skip")
        assert (done.outcome.conflicting, done.outcome.skipped["decision"]) == (2, 1)
        assert value_of(full, "limit") == "9"

    def test_replace_makes_them_those_of_the_file(self, path: Path, full: Project) -> None:
        row_id = Decision.objects.in_project(full).get(key="limit").pk
        done = take(path, full, on_conflict="replace")
        assert done.outcome.replaced == {"decision": 1, "memory": 1}
        decision = Decision.objects.in_project(full).get(key="limit")
        assert (decision.value, decision.pk, decision.tags.count()) == ("7.25", row_id, 0)
        assert not find_faults([full.pk], everything=True)
        assert SearchEntry.objects.in_project(full).filter(ref="decision:limit").exists()
        others = {*path.read_bytes().splitlines()[1:-1]} - {line.rstrip(b"\n") for line in export_of(full)}
        # They were written to and seen since.
        assert {json.loads(line)["kind"] for line in others} <= {"context", "agent"}

    def test_a_dry_run_counts_them(self, path: Path, full: Project) -> None:
        before = objects_in(export_of(full, with_log=True))
        done = take(path, full, dry_run=True)
        assert (done.outcome.conflicting, len(done.outcome.conflicts)) == (2, 2)
        assert objects_in(export_of(full, with_log=True)) == before

    def test_many_that_are_replaced_want_a_stopped_hub(
        self, path: Path, full: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(publishing, "MOST_REPLACED", 1)
        with pytest.raises(LimitReached, match="2 objects would be replaced"):
            take(path, full, on_conflict="replace")
        assert value_of(full, "limit") == "9"
        assert Project.unscoped.filter(is_hidden=True).count() == 0
        take(path, full, on_conflict="replace", hub_is_stopped=True)
        assert value_of(full, "limit") == "7.25"


def test_names_join_what_is_there(full: Project, hermes: Project, cy: Caller, tmp_path: Path) -> None:
    """Words, agents, keys and paths are the same objects, whatever hub they come from."""
    call(
        cy,
        "decision",
        {"action": "set", "key": "other", "value": "x", "tags": ["API", "database"], "layer": "data"},
    )
    call(Caller(project=hermes, agent="Ada"), "decision", {"action": "set", "key": "third", "value": "y"})
    done = take(written(export_of(full), tmp_path / "a.jsonl"), hermes, on_conflict="skip")
    assert done.outcome.new["decision"] == 3
    assert done.outcome.conflicts == []
    decision = Decision.objects.in_project(hermes).get(key="db/engine")
    assert {*decision.tags.values_list("name", flat=True)} == {"database", "Größe"}
    assert {tag.project_id for tag in decision.tags.all()} == {hermes.pk}
    assert decision.agent.name == "ben" if decision.agent else False
    assert Decision.objects.in_project(hermes).get(key="third").agent.name == "Ada"  # type: ignore[union-attr]
    assert not find_faults([hermes.pk], everything=True)


def test_an_import_tells_nobody_and_is_one_event(
    full: Project, hermes: Project, cy: Caller, tmp_path: Path
) -> None:
    call(cy, "decision", {"action": "set", "key": "mine", "value": "x", "paths": ["src/**"]})
    before = Event.objects.in_project(hermes).count()
    take(written(export_of(full), tmp_path / "a.jsonl"), hermes)
    events = Event.objects.in_project(hermes).order_by("-pk")
    assert events.count() == before + 1
    assert (events[0].noun, events[0].verb, events[0].agent) == ("hub", "imported", None)
    assert call(cy, "decision", {"action": "list", "stale": True}).get("total", 0) == 0


def test_a_large_import_moves_in_steps(
    full: Project, hermes: Project, cy: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More objects than others may wait for; one whose name is taken meanwhile stays as it is."""
    call(cy, "decision", {"action": "set", "key": "mine", "value": "x"})
    monkeypatch.setattr(publishing, "MOST_MOVED", 5)
    monkeypatch.setattr(publishing, "ROWS_AT_ONCE", 2)
    move = publishing._move_some

    def meanwhile(model: type, target: int, staged: int) -> bool:
        if model is Decision and not Decision.objects.in_project(hermes).filter(key="limit").exists():
            call(cy, "decision", {"action": "set", "key": "limit", "value": "theirs"})
        return move(model, target, staged)

    monkeypatch.setattr(publishing, "_move_some", meanwhile)
    take(written(export_of(full), tmp_path / "a.jsonl"), hermes)
    assert value_of(hermes, "limit") == "theirs"
    assert Decision.objects.in_project(hermes).count() == 4
    assert Scratchpad.objects.in_project(hermes).count() == 1
    assert Project.unscoped.filter(is_hidden=True).count() == 0
    assert not find_faults([hermes.pk], everything=True)
