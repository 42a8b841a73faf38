"""What every noun does, over MCP and over REST: `tests/contract/nouns.py` registers the nouns."""

from contextlib import suppress
from typing import Any

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.

from ctxhub.core.models import Event, Project
from ctxhub.core.registry import Deletion, all_nouns
from tests.contract.calls import action_of, always_given, made, names, parent, several, stored
from tests.contract.faces import Face, Open
from tests.contract.nouns import CONTRACTS, OF_OTHERS, OF_THE_NOUN, OF_THE_PAGE, UNCOUNTED, Contract, Json
from tests.stored_names import invisible_names

WRONG: Json = {
    "string": {"a": 1},
    "integer": "x",
    "number": "x",
    "boolean": "x",
    "array": {"a": 1},
    "object": [1],
}

nouns = pytest.mark.parametrize("noun", CONTRACTS, ids=str)
changed = pytest.mark.parametrize("noun", [noun for noun in CONTRACTS if noun.change], ids=str)


@pytest.fixture
def ada(open_face: Open) -> Face:
    return open_face("ada", "read", "write", "admin")


@pytest.fixture
def ben(open_face: Open) -> Face:
    return open_face("ben")


@pytest.fixture
def cy(open_face: Open, hermes: Project) -> Face:
    return open_face("cy", "read", "write", "admin", project=hermes)


def test_every_noun_is_registered_here() -> None:
    opened = {noun.kind for noun in all_nouns() if noun.open}
    assert {noun.kind for noun in CONTRACTS} | {*OF_OTHERS} == opened


def test_every_noun_is_deleted_with_the_scope_of_its_registration() -> None:
    # Others' sessions need more than one's own.
    found = {n.kind: n.deletion.scope for n in all_nouns() if isinstance(n.deletion, Deletion)}
    stated = {noun.kind: noun.deleted_by for noun in CONTRACTS if noun.is_deleted}
    assert stated == {**found, "session": "admin"}


@nouns
def test_one_agent_writes_and_another_reads(noun: Contract, ada: Face, ben: Face) -> None:
    needed = noun.needs(ada)
    assert {*noun.everything, *needed} >= {*action_of(noun, noun.create).arguments.names} - {
        "expected_version",
        "numeric",
        "reply_to",
        "choice",
        *noun.of_the_noun,
    }
    name = made(ada, noun, noun.everything, needed)
    item = ben.read(noun, name)
    given = {**needed, **noun.everything, **noun.stored}
    assert {field: item.get(field) for field in given} == given
    assert name in names(ben, noun, **noun.listing, **parent(noun, needed))


@nouns
def test_each_filter(noun: Contract, ada: Face, ben: Face, subtests: Subtests) -> None:
    declared = set(action_of(noun, noun.list).arguments.names) - OF_THE_PAGE
    assert declared == {*noun.filters} | (OF_THE_NOUN.get(noun.kind, set()) & declared)
    needed = noun.needs(ada)
    name = made(ada, noun, noun.everything, needed)
    made(ben if noun.kind != "message" else ada, noun, noun.other, needed)
    for parameter, value in noun.filters.items():
        with subtests.test(parameter):
            query = {**noun.listing, **parent(noun, needed), parameter: value}
            assert names(ben, noun, **query) == [name]


@nouns
def test_pages(noun: Contract, ada: Face, ben: Face) -> None:
    needed = noun.needs(ada)
    for fields in several(noun, 5):
        made(ada, noun, fields, needed)
    query = {**noun.listing, **parent(noun, needed)}
    whole = names(ben, noun, **query, limit=200)
    assert len({*whole}) == len(whole) >= 5
    walked: list[Any] = []
    cursor: Json = {}
    while True:
        page = ben.list(noun, **query, limit=2, **cursor)
        assert page["count"] == len(page["items"]) <= 2
        assert page.get("total") == (None if noun.kind in UNCOUNTED else len(whole))
        walked += [item[noun.name] for item in page["items"]]
        if not page.get("next"):
            break
        cursor = {"cursor": page["next"]}
    assert walked == whole


@changed
def test_each_field_is_changed_alone(noun: Contract, ada: Face, ben: Face, subtests: Subtests) -> None:
    needed = noun.needs(ada)
    name = made(ada, noun, noun.everything, needed)
    assert set(noun.changes) >= set(noun.everything) - {noun.argument, "version", "name"} - {*needed}
    for field, value in noun.changes.items():
        with subtests.test(field):
            before = ada.read(noun, name)
            answer = ben.change(noun, name, {**always_given(noun, before), field: value})
            assert answer["result"] == "updated", answer
            after = ada.read(noun, name)
            assert after[field] == value
            stays = {*noun.everything} - {field, "version"}
            assert {n: after[n] for n in stays} == {n: before[n] for n in stays}


@changed
def test_what_is_left_out_stays(noun: Contract, ada: Face, apollo: Project) -> None:
    name = made(ada, noun, noun.everything, noun.needs(ada))
    before, rows = ada.read(noun, name), stored(apollo)
    answer = ada.change(noun, name, always_given(noun, before))
    assert answer.get("result") == "unchanged", answer
    assert ada.read(noun, name) == before
    assert stored(apollo) == rows


@pytest.mark.parametrize("noun", [noun for noun in CONTRACTS if noun.is_deleted], ids=str)
def test_what_is_deleted_is_gone_and_its_events_stay(
    noun: Contract, ada: Face, ben: Face, apollo: Project
) -> None:
    needed = noun.needs(ada)
    name = made(ada, noun, noun.everything, needed)
    if noun.deleted_by == "admin":
        assert ben.delete(noun, name)["error"] == "not_allowed"
    deleter, agent = (ada, "ada") if noun.deleted_by == "admin" else (ben, "ben")
    assert "error" not in deleter.delete(noun, name)
    assert ben.read(noun, name)["error"] == "not_found"
    assert ada.delete(noun, name)["error"] == "not_found"
    assert name not in names(ben, noun, **noun.listing, **parent(noun, needed))
    [event] = Event.objects.in_project(apollo).filter(noun=noun.kind, verb="deleted")
    assert str(event.agent) == agent


@nouns
def test_for_a_stranger_it_does_not_exist(noun: Contract, ada: Face, cy: Face, apollo: Project) -> None:
    needed = noun.needs(ada)
    name = made(ada, noun, noun.everything, needed)
    before = stored(apollo)
    assert cy.read(noun, name)["error"] == "not_found"
    listed = cy.list(noun, **noun.listing, **parent(noun, needed))
    assert listed.get("error") == "not_found" or name not in [item[noun.name] for item in listed["items"]]
    if noun.change and not cy.makes_what_it_changes(noun):
        assert cy.change(noun, name, noun.changes)["error"] == "not_found"
    if noun.is_deleted:
        assert cy.delete(noun, name)["error"] == "not_found"
    assert stored(apollo) == before


@nouns
def test_a_reader_reads_and_writes_nothing(
    noun: Contract, open_face: Open, ada: Face, apollo: Project
) -> None:
    needed = noun.needs(ada)
    name = made(ada, noun, noun.everything, needed)
    reader = open_face("eve", "read")
    assert "error" not in reader.read(noun, name)
    assert "error" not in reader.list(noun, **noun.listing, **parent(noun, needed))
    before = stored(apollo)
    assert reader.create(noun, {**needed, **noun.other})["error"] == "not_allowed"
    if noun.batch:
        assert reader.batch(noun, [noun.other])["error"] == "not_allowed"
    if noun.change:
        assert reader.change(noun, name, noun.changes)["error"] == "not_allowed"
    if noun.is_deleted:
        assert reader.delete(noun, name)["error"] == "not_allowed"
    assert stored(apollo) == before


@pytest.mark.one_engine
@nouns
def test_a_wrong_type_is_named_and_nothing_is_written(
    noun: Contract, ada: Face, apollo: Project, subtests: Subtests
) -> None:
    needed = noun.needs(ada)
    name = made(ada, noun, noun.everything, needed)
    before = stored(apollo)
    for action in {noun.create, noun.change} - {""}:
        for argument in action_of(noun, action).arguments.all:
            kind = argument.accepted.get("type")
            if argument.name == noun.argument or not isinstance(kind, str):
                continue
            with subtests.test(f"{action} {argument.name}"):
                wrong = {argument.name: WRONG[kind]}
                answer = (
                    ada.create(noun, {**needed, **noun.other, **wrong})
                    if action == noun.create
                    else ada.change(noun, name, {**noun.changes, **wrong})
                )
                assert answer["error"] == "invalid"
                assert argument.name in answer["message"]
                if action == noun.create and noun.batch:
                    answer = ada.batch(noun, [noun.other, {**noun.other, **wrong}])
                    assert (answer["error"], answer["index"]) == ("invalid", 1)
                    assert argument.name in answer["message"]
    for argument in action_of(noun, noun.list).arguments.all:
        kind = argument.accepted.get("type")
        if kind in ("integer", "boolean"):
            with subtests.test(f"{noun.list} {argument.name}"):
                answer = ada.list(noun, **{**noun.listing, **parent(noun, needed), argument.name: "x"})
                assert answer["error"] == "invalid"
                assert argument.name in answer["message"]
    assert stored(apollo) == before


@pytest.mark.one_engine
@nouns
def test_an_unknown_field_or_filter_is_invalid(noun: Contract, ada: Face, apollo: Project) -> None:
    needed = noun.needs(ada)
    before = stored(apollo)
    for answer in (
        ada.create(noun, {**needed, **noun.other, "zzz": 1}),
        ada.list(noun, **noun.listing, **parent(noun, needed), zzz=1),
    ):
        assert answer["error"] == "invalid"
        assert "zzz" in answer["message"]
    if noun.batch:
        answer = ada.batch(noun, [noun.other, {**noun.other, "zzz": 1}])
        assert (answer["error"], answer["index"]) == ("invalid", 1)
    assert stored(apollo) == before


@pytest.mark.one_engine
@nouns
@pytest.mark.parametrize("unknown", ["0", "999999999", str(2**63), "9" * 40])
def test_an_unknown_name_is_not_found(noun: Contract, ada: Face, unknown: str, apollo: Project) -> None:
    noun.needs(ada)
    assert ada.read(noun, unknown)["error"] == "not_found"
    before = stored(apollo)
    if noun.change and not ada.makes_what_it_changes(noun):
        assert ada.change(noun, unknown, noun.changes)["error"] == "not_found"
    if noun.is_deleted:
        assert ada.delete(noun, unknown)["error"] == "not_found"
    assert stored(apollo) == before


@pytest.mark.parametrize("noun", [noun for noun in CONTRACTS if noun.acts], ids=str)
def test_only_a_writer_of_its_project_acts_on_it(
    noun: Contract, open_face: Open, ada: Face, ben: Face, cy: Face, apollo: Project
) -> None:
    name = made(ada, noun, noun.everything, noun.needs(ada))
    reader = open_face("eve", "read")
    for act in noun.acts:
        before = stored(apollo)
        assert cy.act(noun, name, act)["error"] == "not_found"
        assert reader.act(noun, name, act)["error"] == "not_allowed"
        assert ben.act(noun, 999999999, act)["error"] == "not_found"
        assert stored(apollo) == before
        assert "error" not in ben.act(noun, name, act)


@nouns
def test_no_field_stores_a_name_that_holds_what_nobody_sees(noun: Contract, ada: Face) -> None:
    """At its ends it is left out, inside it is refused, and nothing is written."""
    needed = noun.needs(ada)
    name = made(ada, noun, noun.everything, needed)
    for text in ("zw/key\u200b", "zw\u200b/key", "\ufeffzw/key", "zw\u202e/key"):
        for field in _texts(noun.everything):
            with suppress(AssertionError):  # Of the status: some exist already.
                ada.create(noun, {**needed, **noun.everything, **_as(noun.everything, field, text)})
        for field in _texts(noun.changes):
            ada.change(noun, name, _as(noun.changes, field, text))
    assert invisible_names() == []


def _texts(fields: Json) -> list[str]:
    return [field for field, value in fields.items() if isinstance(value, (str, list))]


def _as(fields: Json, field: str, text: str) -> Json:
    return {field: text if isinstance(fields[field], str) else [text]}
