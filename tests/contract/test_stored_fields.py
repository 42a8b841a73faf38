"""Every stored field of a noun is in its contract, and a change of it alone is noticed."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from ctxhub.core.history import History, compared_field
from ctxhub.core.registry import Noun, all_nouns
from tests.contract.nouns import CONSTRAINT, CONTRACTS, Contract

# Every noun has these, and no call changes them.
OF_EVERY_ROW = {"id", "project", "agent", "created_at", "updated_at"}

nouns = pytest.mark.parametrize("contract", CONTRACTS, ids=str)


def noun_of(contract: Contract) -> Noun:
    return next(noun for noun in all_nouns() if noun.kind == contract.kind)


def columns_of(noun: Noun) -> set[str]:
    """The stored fields of the model, without those that are computed from others."""
    fields = {field.name for field in noun.model._meta.get_fields() if field.concrete}
    derived = noun.history.table.derived if isinstance(noun.history, History) else ()
    return fields - OF_EVERY_ROW - {*derived}


def unnamed(contract: Contract) -> list[str]:
    """A sentence for each stored field that the contract does not name."""
    noun = noun_of(contract)
    named = {*contract.everything, *contract.changes, *contract.stored, *contract.of_the_noun}
    known = {spelling for name in named for spelling in (name, f"is_{name}", name.removesuffix("_id"))}
    return [
        f"{noun.model.__name__} stores {name!r}, which the contract of {contract.kind} does not name:"
        " add it to `everything` and `changes`, or to `of_the_hub` if no call sets it."
        for name in sorted(columns_of(noun) - known - {*contract.of_the_hub})
    ]


def unnoticed(contract: Contract, compared: Iterable[str]) -> list[str]:
    """A sentence for each field of the noun's rows of which a change alone would count as none."""
    noun = noun_of(contract)
    assert isinstance(noun.history, History)
    table = noun.history.table
    exempt = {*table.derived, *table.computed, *noun.history.own_fields, *contract.of_the_hub, *OF_EVERY_ROW}
    stored = {name.removesuffix("_id") for name in {*table.fields} - exempt} - exempt
    found = {str(compared_field(name, table)).removesuffix("_id") for name in compared}
    return [
        f"A change of {name!r} alone is lost: add it to `compared` of {type(noun.history).__name__}, or to"
        f" `of_the_hub` in the contract of {contract.kind} if no call changes it."
        for name in sorted(stored - found)
    ]


@nouns
def test_every_stored_field_is_in_the_contract(contract: Contract) -> None:
    assert unnamed(contract) == []


@nouns
def test_every_field_of_the_hub_is_stored(contract: Contract) -> None:
    columns = {field.name for field in noun_of(contract).model._meta.get_fields() if field.concrete}
    assert {*contract.of_the_hub} <= columns - OF_EVERY_ROW


@pytest.mark.parametrize(
    "contract", [one for one in CONTRACTS if isinstance(noun_of(one).history, History)], ids=str
)
def test_every_stored_field_is_compared(contract: Contract) -> None:
    history = noun_of(contract).history
    assert isinstance(history, History)
    assert unnoticed(contract, history.compared) == []


def test_a_field_that_is_forgotten_is_told() -> None:
    without = {name: value for name, value in CONSTRAINT.everything.items() if name != "reason"}
    changes = {name: value for name, value in CONSTRAINT.changes.items() if name != "reason"}
    [sentence] = unnamed(replace(CONSTRAINT, everything=without, changes=changes))
    assert sentence.startswith("Constraint stores 'reason', which the contract of constraint does not name")
    history = noun_of(CONSTRAINT).history
    assert isinstance(history, History)
    [sentence] = unnoticed(CONSTRAINT, [name for name in history.compared if name != "layer"])
    assert sentence.startswith("A change of 'layer' alone is lost: add it to `compared` of ConstraintHistory")
