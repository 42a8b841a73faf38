"""The row that a save of a model instance would store, whatever else the instance holds."""

from dataclasses import replace
from typing import Any

import pytest

from ctxhub.core.models import Agent, Category, Layer, Project
from memory.models import Constraint
from tests.rows import NOON, RULES, Rule, read_rule, stored_rule


@pytest.fixture
def old(apollo: Project) -> Rule:
    return read_rule(apollo, stored_rule(apollo, tags=["api"]).id)


@pytest.fixture
def instance(old: Rule) -> Any:
    return Constraint.unscoped.get(pk=old.id)


def test_an_unchanged_instance_is_the_stored_row(old: Rule, instance: Constraint) -> None:
    assert RULES.row_of(instance, old, None) == old


def test_a_save_stores_every_field(old: Rule, instance: Constraint) -> None:
    instance.text, instance.priority = "B", 4
    assert RULES.row_of(instance, old, None) == replace(old, text="B", priority=4)


def test_fields_outside_update_fields_stay_as_stored(old: Rule, instance: Constraint) -> None:
    instance.text, instance.priority, instance.updated_at = "B", 4, NOON.replace(hour=13)
    assert RULES.row_of(instance, old, ["priority"]) == replace(old, priority=4)
    assert RULES.row_of(instance, old, []) == old


@pytest.mark.parametrize("update_fields", [None, ["layer"], ["layer_id"]])
def test_a_changed_foreign_key_changes_its_name(
    update_fields: list[str] | None, old: Rule, instance: Any, apollo: Project
) -> None:
    layer = Layer.objects.in_project(apollo).get(name="data")
    for name, value in (("layer", layer), ("layer_id", layer.pk)):
        loaded = Constraint.unscoped.get(pk=old.id)
        setattr(loaded, name, value)
        assert RULES.row_of(loaded, old, update_fields) == replace(old, layer="data", layer_id=layer.pk)


def test_a_foreign_key_that_is_not_saved_keeps_its_name(
    old: Rule, instance: Constraint, apollo: Project
) -> None:
    instance.category = Category.objects.in_project(apollo).get(name="architecture")
    assert RULES.row_of(instance, old, ["text"]) == old


def test_a_cleared_foreign_key_leaves_no_name(apollo: Project) -> None:
    layer = Layer.objects.in_project(apollo).get(name="data")
    agent = Agent.objects.create(project=apollo, name="Ada")
    keys: Any = {"layer": "data", "layer_id": layer.pk, "agent": "Ada", "agent_id": agent.pk}
    old = read_rule(apollo, stored_rule(apollo, **keys).id)
    instance = Constraint.unscoped.get(pk=old.id)
    instance.layer = instance.agent = None
    row = RULES.row_of(instance, old, None)
    assert (row.layer, row.layer_id, row.agent, row.agent_id) == (None, None, "system", None)


def test_unchanged_foreign_keys_are_not_looked_up(
    old: Rule, instance: Constraint, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        RULES.row_of(instance, old, None)


def test_a_new_instance_has_no_id_and_no_words(apollo: Project) -> None:
    category = Category.objects.in_project(apollo).get(name="security")
    instance = Constraint(
        project=apollo, category=category, text="A", created_at=NOON, updated_at=NOON, paths=["a"]
    )
    assert RULES.row_of(instance, None, None) == Rule(
        id=0,
        category="security",
        category_id=category.pk,
        text="A",
        paths=["a"],
        created_at=NOON,
        updated_at=NOON,
    )


def test_derived_columns_follow_from_the_saved_fields(old: Rule, instance: Constraint) -> None:
    instance.text, instance.priority = "B", 4
    row = RULES.row_of(instance, old, ["priority"])
    assert RULES.derive(row) == {"digest": RULES.value(old, "digest"), "rank": "0security"}
