"""History of rows: which fields count as a change, and the counters and events that a change leaves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.core.serializers import serialize
from django.db import connection
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.test.utils import CaptureQueriesContext

from ctxhub.core.bin.models import BinItem
from ctxhub.core.history import Change, History, record_changes
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent, Event, Project, Scope, Tag
from ctxhub.core.vocabulary.names import register_agent
from memory.contexts.history import HISTORY, ContextHistory
from memory.contexts.rows import CONTEXTS
from memory.models import Context, ContextTag
from tests.rows import NOON, RULES, Rule, new_rule, stored_rule
from tests.tallies import counted, tallied

SIGNALS = (pre_save, post_save, pre_delete, post_delete, m2m_changed)
LATER = NOON + timedelta(minutes=5)


class RuleHistory(History[Rule]):
    kind = "rule"
    table = RULES
    compared = ("category", "text", "layer", "tags", "scopes", "paths", "status")
    counted_by = ("layer_id", "status")
    shown = {Tag: "tags"}

    def note(self, row: Rule) -> str:
        return row.category

    def verb(self, change: Change[Rule]) -> str:
        return "retired" if "status" in change.changed else "updated"

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[Rule]], at: datetime
    ) -> Mapping[int, int]:
        Scope.objects.create(project_id=project_id, name=f"before {len(changes)}")
        return {}


RULE_HISTORY = RuleHistory()


def events(project: Project) -> list[tuple[str, str, str]]:
    found = Event.objects.in_project(project).order_by("pk")
    return list(found.values_list("noun", "verb", "ref"))


def last_event(project: Project) -> Event:
    return Event.objects.in_project(project).latest("pk")


# -- Changed fields --------------------------------------------------------------------------------


def changed(project: Project, **values: Any) -> list[str]:
    old = replace(new_rule(project, tags=["api", "Db"], paths=["a"]), id=1)
    return RULE_HISTORY.change(old, replace(old, **values)).changed


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, []),
        ({"text": "B"}, ["text"]),
        ({"text": "B", "status": 2}, ["text", "status"]),
        ({"category": "Renamed"}, []),
        ({"category_id": 0}, ["category"]),
        ({"layer_id": 7}, ["layer"]),
        ({"paths": ("a",)}, []),
        ({"paths": ["a", "b"]}, ["paths"]),
        ({"tags": ("DB", "API")}, []),
        ({"tags": ["api"]}, ["tags"]),
        ({"scopes": ["web"]}, ["scopes"]),
        ({"priority": 4, "updated_at": LATER}, []),
    ],
)
def test_changed_fields_have_the_names_of_the_api(
    values: dict[str, Any], expected: list[str], apollo: Project
) -> None:
    assert changed(apollo, **values) == expected


def test_created_and_deleted_rows_have_no_changed_fields(apollo: Project) -> None:
    row = new_rule(apollo)
    assert RULE_HISTORY.change(None, row).changed == RULE_HISTORY.change(row, None).changed == []


def test_a_change_has_its_verb(apollo: Project) -> None:
    old = new_rule(apollo)
    diff = RULE_HISTORY.change
    assert [diff(None, old).verb, diff(old, None).verb] == ["created", "deleted"]
    assert [diff(old, replace(old, text="B")).verb, diff(old, replace(old, status=2)).verb] == [
        "updated",
        "retired",
    ]


def test_a_change_has_the_new_row_or_the_deleted_one(apollo: Project) -> None:
    old, new = new_rule(apollo), new_rule(apollo, "B")
    diff = RULE_HISTORY.change
    assert (diff(old, new).row, diff(None, new).row, diff(old, None).row) == (new, new, old)


# -- Recording -------------------------------------------------------------------------------------


def test_an_event_has_note_changed_fields_and_reason(apollo: Project) -> None:
    row = replace(new_rule(apollo), id=7)
    diff = RULE_HISTORY.change
    built = [
        RULE_HISTORY.event(change, NOON)
        for change in (diff(None, row), diff(row, replace(row, text="B"), "Typo."), diff(row, None, "Old."))
    ]
    assert {event.ref for event in built} == {"rule:7"}
    assert [event.data for event in built] == [
        {"note": "security"},
        {"changed": ["text"], "reason": "Typo."},
        {"note": "security", "reason": "Old."},
    ]


def test_rows_are_counted_by_layer_and_status(apollo: Project) -> None:
    row = new_rule(apollo)
    diff = RULE_HISTORY.change
    counts = RULE_HISTORY.count(
        [diff(None, row), diff(row, replace(row, status=2, layer_id=7)), diff(replace(row, layer_id=8), None)]
    )
    assert counts == {("rule", 0, 1): 0, ("rule", 7, 2): 1, ("rule", 8, 1): -1}


def test_changes_of_several_nouns_are_recorded_together(apollo: Project, ada: Caller) -> None:
    at = clock.now()
    agent_id = register_agent(ada, at)
    rules = [stored_rule(apollo, text) for text in "AB"]
    shop = HISTORY.table.row(id=9, name="Shop", created_at=at, updated_at=at, changed_at=at)
    changes: list[Change[Any]] = [
        RULE_HISTORY.change(None, rules[0]),
        HISTORY.change(None, shop),
        RULE_HISTORY.change(None, rules[1]),
    ]
    with CaptureQueriesContext(connection) as found:
        record_changes(project_id=apollo.pk, agent_id=agent_id, changes=changes, at=at)
    assert _written(found) == ["core_scope", "core_tally", "core_searchentry", "core_event"]
    refs = [f"rule:{rules[0].id}", "context:9", f"rule:{rules[1].id}"]
    assert [ref for _, _, ref in events(apollo)] == refs
    assert last_event(apollo).agent_id == agent_id
    assert Scope.objects.in_project(apollo).filter(name="before 2").exists()


def _written(found: CaptureQueriesContext) -> list[str]:
    """The tables that rows are inserted into, in order. Of the search index only the entries count.

    Nor does how far a cleanup got: it is stored after a thousand events, whosever they are.
    """
    sqls = [statement["sql"].split() for statement in found.captured_queries]
    tables = [words[2].strip('"') for words in sqls if words[:2] == ["INSERT", "INTO"]]
    tables = [table for table in tables if table != "core_stalecursor"]
    return [table for table in tables if table == "core_searchentry" or "search" not in table]


def test_recording_no_changes_runs_no_query(apollo: Project) -> None:
    with CaptureQueriesContext(connection) as found:
        record_changes(project_id=apollo.pk, agent_id=None, changes=[], at=clock.now())
    assert len(found) == 0


def test_the_rows_that_show_a_tag_are_found(apollo: Project) -> None:
    tagged, _ = stored_rule(apollo, tags=["api"]), stored_rule(apollo, "B")
    tag = Tag.objects.in_project(apollo).get(name="api")
    assert RULE_HISTORY.showing(tag) == [tagged.id]
    assert RULE_HISTORY.showing(Scope(project=apollo, name="api", pk=tag.pk)) == []


# -- Saves through the ORM -------------------------------------------------------------------------


@pytest.fixture
def shop(apollo: Project) -> Iterator[Context]:
    """A context created long ago, at `NOON`, without an author."""
    yield Context.objects.create(
        project=apollo, name="Shop", created_at=NOON, updated_at=NOON, changed_at=NOON
    )
    assert tallied(apollo) == counted(apollo)


def test_a_save_stores_the_acting_agent_as_author(ada: Caller) -> None:
    with acting(ada):
        row = Context.objects.create(project=ada.project, name="Shop")
    assert str(row.agent) == "ada"
    assert str(last_event(ada.project).agent) == "ada"


def test_a_save_without_an_acting_agent_has_no_author(shop: Context, apollo: Project) -> None:
    assert shop.agent is None
    assert last_event(apollo).agent is None


def test_an_explicit_author_stays(ada: Caller) -> None:
    ben = Agent.objects.create(project=ada.project, name="ben")
    with acting(ada):
        row = Context.objects.create(project=ada.project, name="Shop", agent=ben)
    assert str(row.agent) == "ben"
    assert str(last_event(ada.project).agent) == "ada"


@pytest.mark.parametrize(("signs", "author"), [(False, "None"), (True, "ada")])
def test_a_change_sets_the_author_if_the_history_signs_changes(
    signs: bool, author: str, shop: Context, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContextHistory, "signs_changes", signs)
    shop.description = "New."
    with acting(ada):
        shop.save(update_fields=["description"])
    assert str(shop.agent) == str(Context.unscoped.get().agent) == author


def test_a_save_without_changes_keeps_the_author(
    shop: Context, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContextHistory, "signs_changes", True)
    with acting(ada):
        shop.save()
    assert Context.unscoped.get().agent is None
    assert len(events(ada.project)) == 1


def test_a_save_sets_derived_fields_on_the_instance(shop: Context) -> None:
    shop.name = "Store"
    shop.save()
    stored = Context.unscoped.get()
    assert (shop.folded, shop.updated_at) == (stored.folded, stored.updated_at)
    assert stored.updated_at > NOON


@pytest.mark.parametrize(("is_read", "count"), [(True, 2), (False, 1)])
def test_a_saved_row_is_read_again_unless_the_history_knows_it(
    is_read: bool, count: int, shop: Context, apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_read:
        monkeypatch.setattr(HISTORY, "saved", lambda project_id, old, row: row)
    shop.description = "New."
    with CaptureQueriesContext(connection) as queries:
        shop.save()
    read = [
        each["sql"] for each in queries.captured_queries if each["sql"].lstrip().startswith("SELECT d.id")
    ]
    assert len(read) == count
    assert last_event(apollo).data == {"changed": ["description"]}


def test_a_caller_of_another_project_is_not_the_agent_of_an_event(
    shop: Context, hermes: Project, apollo: Project
) -> None:
    shop.description = "New."
    with acting(Caller(project=hermes, agent="eve")):
        shop.save()
    assert last_event(apollo).agent is None


def test_a_history_may_name_the_agent_of_a_write_through_the_orm(
    shop: Context, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = Agent.objects.create(project=ada.project, name="ben")
    monkeypatch.setattr(HISTORY, "acting_agent", lambda project_id, change, at: ben.pk)
    shop.description = "New."
    with acting(ada):
        shop.save()
    assert last_event(ada.project).agent == ben


def test_an_explicit_updated_at_stays(shop: Context) -> None:
    shop.name, shop.updated_at = "Store", LATER
    shop.save()
    assert Context.unscoped.get().updated_at == LATER


def test_no_history_attribute_stays_on_the_instance(shop: Context, apollo: Project) -> None:
    shop.tags.add(Tag.objects.create(project=apollo, name="first"), through_defaults={"project": apollo})
    assert not [name for name in vars(shop) if name.startswith("_history")]


def test_loaddata_records_no_change(shop: Context, apollo: Project, tmp_path: Any) -> None:
    fixture = tmp_path / "shop.json"
    shop.description = "Loaded."
    fixture.write_text(serialize("json", [shop]))
    before = events(apollo)
    call_command("loaddata", fixture, verbosity=0)
    stored = Context.unscoped.get()
    assert (stored.description, stored.updated_at) == ("Loaded.", NOON)
    assert events(apollo) == before


def test_watching_a_model_again_connects_no_receiver_twice(shop: Context, apollo: Project) -> None:
    before = [len(signal.receivers) for signal in SIGNALS]
    HISTORY.watch()
    ContextHistory().watch()
    assert [len(signal.receivers) for signal in SIGNALS] == before
    shop.name = "Store"
    shop.save()
    assert [verb for _, verb, _ in events(apollo)] == ["created", "updated"]


# -- Deletes through the ORM -----------------------------------------------------------------------


def test_a_deleted_row_leaves_one_event(shop: Context, apollo: Project) -> None:
    ref = shop.ref
    shop.delete()
    assert events(apollo)[-1] == ("context", "deleted", ref)


@pytest.mark.parametrize("is_binned", [True, False])
def test_deleted_rows_go_into_the_bin_unless_the_history_has_none(
    is_binned: bool, shop: Context, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContextHistory, "is_binned", is_binned)
    Context.objects.create(project=ada.project, name="Store").delete()
    with write_transaction(ada.project_id):
        rows = list(CONTEXTS.read(ada.project_id, [shop.pk]).values())
        HISTORY.delete(project_id=ada.project_id, agent_id=None, rows=rows, at=NOON)
    assert BinItem.objects.in_project(ada.project).count() == 2 * is_binned
    assert [verb for _, verb, _ in events(ada.project)][-2:] == ["deleted", "deleted"]


def test_a_queryset_delete_leaves_one_event_per_row(shop: Context, apollo: Project) -> None:
    Context.objects.create(project=apollo, name="Store")
    Context.objects.in_project(apollo).delete()
    assert [verb for _, verb, _ in events(apollo)] == ["created"] * 2 + ["deleted"] * 2


def test_deleting_a_project_leaves_no_event(apollo: Project) -> None:
    shop: Any = Context.objects.create(project=apollo, name="Shop")
    shop.tags.add(Tag.objects.create(project=apollo, name="first"), through_defaults={"project": apollo})
    apollo.delete()
    assert not Context.unscoped.exists()
    assert not Event.unscoped.exists()


def test_deleting_a_missing_row_leaves_no_event(shop: Context, apollo: Project) -> None:
    again = Context.unscoped.get()
    shop.delete()
    before = events(apollo)
    again.delete()
    assert events(apollo) == before


# -- Tags through the ORM --------------------------------------------------------------------------


@pytest.fixture
def tags(apollo: Project) -> list[Tag]:
    return [Tag.objects.create(project=apollo, name=name) for name in ("first", "second", "third")]


def refs_with_changed_tags(project: Project) -> list[str]:
    """The refs of the rows whose tags have changed, from the events."""
    found = Event.objects.in_project(project).filter(verb="updated").order_by("pk")
    assert all(event.data == {"changed": ["tags"]} for event in found)
    return [event.ref for event in found]


def test_tags_added_together_are_one_change(shop: Context, tags: list[Tag], apollo: Project) -> None:
    shop.tags.add(*tags, through_defaults={"project": apollo})
    assert refs_with_changed_tags(apollo) == [shop.ref]
    assert shop.updated_at == Context.unscoped.get().updated_at > NOON


def test_tags_that_stay_the_same_are_no_change(shop: Context, tags: list[Tag], apollo: Project) -> None:
    shop.tags.add(tags[0], through_defaults={"project": apollo})
    shop.tags.add(tags[0], through_defaults={"project": apollo})
    shop.tags.remove(tags[1])
    shop.tags.set([tags[0]], through_defaults={"project": apollo})
    assert refs_with_changed_tags(apollo) == [shop.ref]


def test_setting_other_tags_records_the_removal_and_the_addition(
    shop: Context, tags: list[Tag], apollo: Project
) -> None:
    shop.tags.set(tags[:2], through_defaults={"project": apollo})
    shop.tags.set(tags[1:], through_defaults={"project": apollo})
    assert refs_with_changed_tags(apollo) == [shop.ref] * 3
    assert set(shop.tags.all()) == set(tags[1:])


def test_clearing_all_tags_is_one_change(shop: Context, tags: list[Tag], apollo: Project) -> None:
    shop.tags.add(*tags, through_defaults={"project": apollo})
    shop.tags.clear()
    shop.tags.clear()
    assert refs_with_changed_tags(apollo) == [shop.ref] * 2
    assert not ContextTag.unscoped.exists()


@pytest.fixture
def contexts(shop: Context, apollo: Project) -> list[Any]:
    return [shop, Context.objects.create(project=apollo, name="Store", updated_at=NOON)]


def test_adding_rows_to_a_tag_changes_each_row(contexts: list[Any], tags: list[Any], apollo: Project) -> None:
    tags[0].contexts.add(*contexts, through_defaults={"project": apollo})
    assert sorted(refs_with_changed_tags(apollo)) == sorted(row.ref for row in contexts)
    assert all(row.updated_at > NOON for row in Context.unscoped.all())


def test_removing_a_row_from_a_tag_changes_that_row(
    contexts: list[Any], tags: list[Any], apollo: Project
) -> None:
    tags[0].contexts.add(*contexts, through_defaults={"project": apollo})
    Event.unscoped.all().delete()
    tags[0].contexts.remove(contexts[0])
    assert refs_with_changed_tags(apollo) == [contexts[0].ref]


@pytest.mark.parametrize("clear", [lambda tag: tag.contexts.clear(), lambda tag: tag.contexts.set([])])
def test_clearing_the_rows_of_a_tag_changes_each_row(
    clear: Any, contexts: list[Any], tags: list[Any], apollo: Project
) -> None:
    tags[0].contexts.add(*contexts, through_defaults={"project": apollo})
    Event.unscoped.all().delete()
    clear(tags[0])
    assert sorted(refs_with_changed_tags(apollo)) == sorted(row.ref for row in contexts)


def test_the_event_of_a_tag_change_has_the_acting_agent(
    shop: Context, tags: list[Tag], ada: Caller, apollo: Project
) -> None:
    with acting(ada):
        shop.tags.add(tags[0], through_defaults={"project": apollo})
    assert str(last_event(ada.project).agent) == "ada"
