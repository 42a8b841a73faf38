"""Counts name one object in the singular and several in the plural."""

import pytest

from ctxhub.console.graphs.layer_chart import Bar
from ctxhub.core import registry
from ctxhub.core.events.cleanup import in_words, retention_rules
from ctxhub.core.hub.overview import summarise_layers
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Category, Project
from ctxhub.core.vocabulary.services import rename_word
from ctxhub.toolbox.dispatch import call
from memory.contexts.services import create_context, delete_context
from memory.memories.services import add_memory


def singulars() -> dict[str, str]:
    return {noun.plural: noun.kind for noun in registry.all_nouns()}


def test_cleanup_counts_one_in_the_singular() -> None:
    cleaned = [kind.plural for kind in retention_rules] + ["workflows", "scratchpads"]
    assert [in_words({plural: 1}) for plural in cleaned] == [f"1 {singulars()[plural]}" for plural in cleaned]


def test_a_bar_of_one_is_labelled_in_the_singular(apollo: Project) -> None:
    for plural in summarise_layers(apollo.pk).columns[1:]:
        assert Bar(plural, 1, 0).label in (singulars().get(plural), plural.removesuffix("s"))
        assert Bar(plural, 2, 0).label == plural


@pytest.mark.parametrize(
    ("plural", "singular"),
    [("memories", "memory"), ("categories", "category"), ("accesses", "access"), ("access", "access")],
)
def test_irregular_plurals_have_a_singular(plural: str, singular: str) -> None:
    assert in_words({plural: 1}) == f"1 {singular}"


def test_a_bar_of_one_memory_is_labelled_memory() -> None:
    assert Bar("memories", 1, 0).label == "memory"


def test_updates_count_changed_categories(ada: Caller, ben: Caller) -> None:
    category = Category.objects.in_project(ada.project).get(name="security")
    rename_word(caller=ada, word=category, name="Safety")
    assert call(ben, "hub", {"action": "updates", "since": "e0"})["categories"] == 1


def test_a_deleted_context_notes_its_one_deleted_memory(ada: Caller, ben: Caller) -> None:
    create_context(caller=ada, name="Shop")
    add_memory(caller=ada, title="A", content="B", context="Shop")
    delete_context(caller=ada, context="Shop")
    [event] = call(ben, "hub", {"action": "activity", "verbs": ["deleted"], "format": "objects"})["items"]
    assert event["note"] == "Shop, with 1 memory"
