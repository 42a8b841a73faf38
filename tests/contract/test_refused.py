"""A wrong value is named in the error, and nothing is written: `refused.py` lists the values."""

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.

from ctxhub.core.models import Project
from tests.contract.calls import always_given, made, parent, stored
from tests.contract.faces import Open
from tests.contract.nouns import CONTRACTS, Contract, Json
from tests.contract.refused import FIELDS, FILTERS

pytestmark = pytest.mark.one_engine

nouns = pytest.mark.parametrize("noun", CONTRACTS, ids=str)


# A byte that no text may hold, and what stands inside a value, are told without the name of the field.
TOLD_OTHERWISE = ("NUL", "'nowhere'")


def assert_refused(answer: Json, field: str) -> None:
    assert answer["error"] == "invalid", answer
    assert any(word in answer["message"] for word in (field, *TOLD_OTHERWISE)), answer


@nouns
def test_a_wrong_field_is_refused(
    noun: Contract, open_face: Open, apollo: Project, subtests: Subtests
) -> None:
    ada = open_face("ada")
    needed = noun.needs(ada)
    name = made(ada, noun, noun.everything, needed)
    item, before = ada.read(noun, name), stored(apollo)
    for field, bad in FIELDS[noun.kind]:
        with subtests.test(field, value=str(bad)[:40]):
            fields = {**needed, **noun.other, field: bad}
            if field != noun.argument or not noun.has_put:
                assert_refused(ada.create(noun, fields), field)
            if noun.batch:
                answer = ada.batch(noun, [noun.everything, fields])
                assert_refused(answer, field)
                assert answer["index"] == 1
            if noun.change and (field in noun.changes or field not in noun.everything):
                assert_refused(ada.change(noun, name, {**always_given(noun, item), field: bad}), field)
            assert stored(apollo) == before


@nouns
def test_a_wrong_filter_is_refused(noun: Contract, open_face: Open, subtests: Subtests) -> None:
    ada = open_face("ada")
    query = {**noun.listing, **parent(noun, noun.needs(ada))}
    for field, bad in FILTERS[noun.kind]:
        with subtests.test(field, value=str(bad)[:40]):
            assert_refused(ada.list(noun, **{**query, field: bad}), field)
