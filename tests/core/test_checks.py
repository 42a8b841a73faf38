"""The system checks of tables and histories: a name that their models lack is an error."""

import sys
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import pytest
from django.apps import apps
from django.core import checks
from django.db import models
from django.test.utils import isolate_apps

from ctxhub.core.checks import histories, problems_of_history, problems_of_table
from ctxhub.core.history import History
from ctxhub.core.kit.columns import copies_of
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Computed, Derived, Row, Table
from ctxhub.core.models import Category, Layer, Project, Scope, Tag
from ctxhub.core.registry import Noun
from memory.models import Constraint, Context
from memory.scratchpads.rows import PADS
from tests.rows import RULES, Rule

# Columns that link tables duplicate for the order of a list. Any other is a mistake, or needs a line here.
COPIES = {
    "memory_constrainttag": ["rank", "created_at"],
    "memory_constraintscope": ["rank", "created_at"],
    "memory_decisiontag": ["updated_at"],
    "memory_decisionscope": ["updated_at"],
    "memory_memorytag": ["updated_at"],
    "memory_snapshottag": ["created_at"],
}


def test_no_check_finds_a_problem() -> None:
    """Includes the checks of Django's admin, which a test run does not execute by itself."""
    assert checks.run_checks() == []


def test_every_table_and_history_in_use_passes_the_checks() -> None:
    assert [error for error in checks.run_checks() if (error.id or "").startswith("core.")] == []
    assert len(histories()) > 3


def test_every_table_in_use_belongs_to_a_history() -> None:
    """Except that of scratchpads, which write their events themselves."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] in APPS]
    tables = {id(value) for module in modules for value in vars(module).values() if isinstance(value, Table)}
    assert tables == {id(PADS), *(id(history.table) for history in histories())}
    assert problems_of_table(PADS) == []


APPS = ("ctxhub", "memory", "messaging", "tracking", "sessions")


@pytest.mark.django_db
@pytest.mark.parametrize("history", histories(), ids=lambda history: str(history.kind))
def test_every_table_in_use_can_be_read(history: History[Any], apollo: Project) -> None:
    """Also if a foreign key is named like a keyword of SQL."""
    for name in history.table.fields:
        assert history.table.find(apollo.pk, ("d.id = 0", []), [name]) == []
    assert history.table.find(apollo.pk, ("d.id = 0", [])) == []


def test_link_tables_duplicate_only_the_expected_columns() -> None:
    found = {}
    for model in apps.get_models():
        for many in model._meta.many_to_many if model.__module__.startswith(APPS) else ():
            if copies := copies_of(many):
                through: Any = many.remote_field.through
                found[through._meta.db_table] = copies
    assert found == COPIES


# -- Tables ----------------------------------------------------------------------------------------


def table(row: type[Any], **options: Any) -> Table[Any]:
    return Table(Constraint, row, **{"derived": RULES.derived, **options})


@frozen(kw_only=True)
class Misspelt(Rule):
    txet: str = ""


@frozen(kw_only=True)
class Keyless(Row):
    category: str
    text: str
    priority: int


NO_CATEGORY_ID = "A row has 'category', and not 'category_id': its key would not be stored."


@pytest.mark.parametrize(
    ("made", "problems"),
    [
        (RULES, []),
        (table(Rule, computed={"reason": Computed("'So.'")}), []),
        (
            table(Misspelt),
            ["'txet' is no column, foreign key or many-to-many field, and is not computed."],
        ),
        (table(Misspelt, computed={"txet": Computed("'B'")}), []),
        (table(Keyless), [NO_CATEGORY_ID, "A row has no 'category_id', which has no default."]),
        (table(Rule, shown={"layer": "folded"}), []),
        (table(Rule, shown={"layer": "key"}), ["'layer' points to what has no 'key'."]),
        (table(Rule, shown={"layers": "name"}), ["shown: a row has no 'layers'."]),
        (table(Rule, computed={"reasons": Computed("'So.'")}), ["computed: a row has no 'reasons'."]),
        (
            table(Rule, derived={**RULES.derived, "length": Derived(of=["text"], value=len)}),
            ["derived: there is no column 'length'."],
        ),
        (
            table(Rule, derived={**RULES.derived, "digest": Derived(of=["txet"], value=hash)}),
            ["derived: 'digest' is of 'txet', which a row does not have."],
        ),
        (
            table(Rule, derived={}),
            [
                f"The links of {name!r} repeat 'rank', which a row does not have."
                for name in ("tags", "scopes")
            ],
        ),
    ],
)
def test_names_in_a_table_that_its_model_lacks_are_reported(made: Table[Any], problems: list[str]) -> None:
    assert problems_of_table(made) == problems


@frozen(kw_only=True)
class Event(Row):
    event: str
    event_id: int
    tags: list[str] = field(default_factory=list)


def model(name: str, **fields: Any) -> Any:
    meta = type("Meta", (), {"app_label": "tests"})
    return type(name, (models.Model,), {"__module__": __name__, "Meta": meta, **fields})


def key(to: Any) -> "models.ForeignKey[Any, Any]":
    return models.ForeignKey(to, models.CASCADE, related_name="+")


@isolate_apps("tests")
def test_shown_names_and_duplicated_columns_must_match_their_models() -> None:
    nameless, word = model("Nameless"), model("Word")
    times = {name: models.DateTimeField() for name in ("created_at", "updated_at")}
    owner = model(
        "Owner",
        event=key(nameless),
        tags=models.ManyToManyField(word, through="Link", related_name="+"),
        size=models.CharField(max_length=10),
        **times,
    )
    model(
        "Link",
        owner=key(owner),
        word=key(word),
        size=models.CharField(max_length=20),
        updated_at=models.DateField(),
    )
    computed = {"agent": Computed("'nobody'"), "agent_id": Computed("0")}
    assert problems_of_table(Table(owner, Event, computed=computed)) == [
        "'event' points to what has no 'name'.",
        "The links of 'tags' have a 'size' of another type.",
        "The links of 'tags' have a 'updated_at' of another type.",
    ]


# -- Histories -------------------------------------------------------------------------------------

COMPARED = ("category", "text", "layer", "tags", "scopes", "status")


def history(**options: Any) -> History[Rule]:
    values = {"kind": "rule", "table": RULES, "compared": COMPARED, **options}
    made: History[Rule] = type("RuleHistory", (History,), values)()
    return made


@pytest.mark.parametrize(
    ("options", "problems"),
    [
        ({}, []),
        ({"counted_by": ("layer_id", "status")}, []),
        ({"shown": {Tag: "tags", Category: "category"}}, []),
        ({"compared": (*COMPARED, "txet")}, ["compared: a row has no 'txet'."]),
        ({"compared": ("text", "tags")}, ["compared: 'scopes' is missing."]),
        (
            {"counted_by": ("stack",)},
            ["counted_by: a row has no 'stack'.", "counted_by: counters have no 'stack'."],
        ),
        ({"counted_by": ("priority",)}, ["counted_by: counters have no 'priority'."]),
        ({"shown": {Scope: "tags"}}, ["shown: 'tags' does not point to a Scope."]),
        ({"shown": {Layer: "layers"}}, ["shown: 'layers' does not point to a Layer."]),
    ],
)
def test_names_in_a_history_that_its_table_lacks_are_reported(
    options: Mapping[str, Any], problems: list[str]
) -> None:
    assert problems_of_history(history(**options)) == problems


# -- Reports ---------------------------------------------------------------------------------------


@pytest.fixture
def unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A noun whose table and history are wrong."""
    wrong = history(table=table(Misspelt), compared=("text",))
    monkeypatch.setattr(
        "ctxhub.core.checks.all_nouns", lambda: [Noun("rule", "rules", Context, history=wrong)]
    )


@pytest.mark.usefixtures("unsound")
def test_problems_are_reported_as_errors() -> None:
    errors = [error for error in checks.run_checks() if (error.id or "").startswith("core.")]
    assert sorted((error.id, error.is_serious()) for error in errors) == [
        ("core.E001", True),
        ("core.E002", True),
        ("core.E002", True),
    ]
