"""Validation of names, texts, lists, paths, JSON and choices, the same for every interface."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit import inputs
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, shown, unknown_word
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.models import Project
from memory.models import DecisionStatus

CALLER = Caller(project=Project(slug="apollo"), agent="ada")

anything = st.text(st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("value", "clean"),
    [(" a ", "a"), ("e\u0301", "é"), ("a\u00a0", "a"), ("A b", "A b")],
)
def test_a_name_is_stripped_and_composed(value: str, clean: str) -> None:
    assert inputs.clean_name(value, "key") == clean


@pytest.mark.parametrize("value", ["", " ", "\n\t", "\u3000", "a\x00", "\ud800", "a" * 201])
def test_an_invalid_name_is_refused_naming_its_field(value: str) -> None:
    with pytest.raises(InvalidInput, match="key"):
        inputs.clean_name(value, "key")


def test_the_length_of_a_name_is_counted_after_composing() -> None:
    assert len(inputs.clean_name("e\u0301" * 200, "key")) == 200
    assert len(inputs.clean_name("👩" * 200, "key")) == 200


@given(anything)
def test_cleaning_a_name_again_changes_nothing(value: str) -> None:
    try:
        clean = inputs.clean_name(value, "key")
    except InvalidInput:
        return
    assert inputs.clean_name(clean, "key") == clean


def test_a_text_is_counted_in_bytes() -> None:
    assert inputs.clean_text("é" * 32 * 1024, "value", CALLER)
    with pytest.raises(InvalidInput, match="65,537 bytes; the limit is 65,536"):
        inputs.clean_text("é" * 32 * 1024 + "x", "value", CALLER)


def test_a_text_is_not_changed() -> None:
    assert inputs.clean_text("  e\u0301\r\n", "value", CALLER) == "  e\u0301\r\n"


def test_repeated_words_keep_their_first_spelling() -> None:
    assert inputs.clean_words(["API", "api", " x ", "ß", "SS"], "tags") == ["API", "x", "ß"]


def test_a_refused_word_is_named_by_its_index() -> None:
    with pytest.raises(InvalidInput, match=r"tags\[1\]"):
        inputs.clean_words(["a", " "], "tags")


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ("src/**/*.py", "src/**/*.py"),
        ("./a", "a"),
        ("././ .\\a", "a"),
        ("a\\b", "a/b"),
        ("..a/b..", "..a/b.."),
        ("a/...", "a/..."),
    ],
)
def test_a_path_is_normalised(value: str, clean: str) -> None:
    assert inputs.clean_path(value, "paths") == clean


@pytest.mark.parametrize(
    "value", ["/a", "..", "../a", "a/../b", "a/..", "C:/a", "c:a", "\\\\host\\a", "./../a", "./", " "]
)
def test_a_path_that_leaves_the_repository_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput):
        inputs.clean_path(value, "paths")


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]} if levels > 1_000 else {"a": value}
    return value


@pytest.mark.parametrize(
    "value",
    [
        nested(21), {"a": float("nan")}, {"a": float("inf")}, {"a": "\x00"}, {"\x00": 1}, {"a": ["\ud800"]},
        {"a": "x" * 65_536}, {"a": 10**5_000}, {"a": object()}, {"a": {1, 2}},
    ],
)  # fmt: skip
def test_invalid_or_oversized_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="metadata"):
        inputs.clean_object(value, "metadata", CALLER)


@pytest.mark.parametrize("value", [nested(20), {}, {"a": None, "b": [1.5, True, "é"]}, {"a": 10**400}])
def test_valid_json_is_accepted_unchanged(value: Any) -> None:
    assert inputs.clean_object(value, "metadata", CALLER) == value


def test_metadata_merges_by_key_and_null_removes() -> None:
    assert inputs.merge_object({"a": 1, "b": 2}, {"b": None, "c": {"d": None}}) == {"a": 1, "c": {"d": None}}


@pytest.mark.parametrize("value", ["active", "ACTIVE", " Active ", "1", 1])
def test_a_choice_is_a_word_or_its_number(value: Any) -> None:
    assert inputs.clean_choice(value, DecisionStatus, "status") is DecisionStatus.ACTIVE


@pytest.mark.parametrize("value", ["", "activ", "0", 4, 1.0, None, "1.0", "٣"])
def test_an_unknown_choice_is_refused_naming_the_known_ones(value: Any) -> None:
    with pytest.raises(InvalidInput, match="active, deprecated, draft"):
        inputs.clean_choice(value, DecisionStatus, "status")


@pytest.mark.parametrize(("value", "is_all"), [("any", False), ("OR", False), ("all", True), (" and ", True)])
def test_match_accepts_synonyms_in_any_case(value: str, is_all: bool) -> None:
    assert inputs.clean_match(value) is is_all


@pytest.mark.parametrize("value", [True, False, float("nan"), float("-inf"), 10**300])
def test_a_number_is_finite_and_no_boolean(value: Any) -> None:
    with pytest.raises(InvalidInput):
        inputs.clean_number(value, "value")


def test_a_secret_is_refused_with_its_position_unless_the_caller_keeps_secrets() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    with pytest.raises(InvalidInput, match=r"rationale .* at character 4"):
        inputs.clean_text(f"use {secret}", "rationale", CALLER)
    keeper = Caller(project=CALLER.project, agent="ada", keeps_secrets=True)
    assert inputs.clean_text(f"use {secret}", "rationale", keeper)


# -- Any text is accepted or refused ---------------------------------------------------------------

CLEANERS: dict[str, Callable[[Any], Any]] = {
    "name": lambda value: inputs.clean_name(value, "x"),
    "text": lambda value: inputs.clean_text(value, "x", CALLER),
    "words": lambda value: inputs.clean_words([value, value], "x"),
    "path": lambda value: inputs.clean_path(value, "x"),
    "json": lambda value: inputs.clean_json({value: [value]}, "x", CALLER),
    "choice": lambda value: inputs.clean_choice(value, DecisionStatus, "x"),
    "match": inputs.clean_match,
    "moment": lambda value: inputs.clean_moment(value, "x"),
}


@pytest.mark.parametrize("cleaner", CLEANERS)
@given(value=anything)
def test_any_text_is_cleaned_or_refused_and_can_be_stored(cleaner: str, value: str) -> None:
    try:
        cleaned = CLEANERS[cleaner](value)
    except CtxhubError as error:
        str(error.body()).encode()
        return
    if isinstance(cleaned, str):
        assert "\x00" not in cleaned
        cleaned.encode()


# -- Suggestions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("busines", "business"),
        ("BUSINESS", "business"),
        ("infra", "infrastructure"),
        ("zzz", None),
        ("", None),
    ],
)
def test_the_nearest_known_word_is_suggested(word: str, expected: str | None) -> None:
    assert nearest(word, ["presentation", "business", "data", "infrastructure", "cross-cutting"]) == expected


def test_the_error_of_an_unknown_word_lists_the_known_ones() -> None:
    body = unknown_word("layer", "busines", ["business", "data"]).body()
    assert body == {
        "error": "invalid",
        "message": "layer: 'busines' is not known; use one of: business, data.",
        "did_you_mean": "business",
    }
    assert unknown_word("layer", "zzz", ["business", "data"]).body()["allowed"] == ["business", "data"]


@pytest.mark.parametrize(("value", "clean"), [(" ada ", "ada"), ("Ada L.", "Ada L."), ("$ada", "$ada")])
def test_an_agents_name_is_cleaned(value: str, clean: str) -> None:
    assert inputs.clean_agent(value) == clean


@pytest.mark.parametrize("value", ["", "x" * 101, "${AGENT}", "a-${USER:-x}", "ghp_" + "a1B2c3D4e5" * 4])
def test_an_invalid_agent_name_is_refused_naming_its_header(value: str) -> None:
    with pytest.raises(InvalidInput, match="Ctxhub-Agent"):
        inputs.clean_agent(value, "Ctxhub-Agent")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", "'x'"),
        ("x" * 60, repr("x" * 60)),
        ("x" * 61, "'" + "x" * 59 + "…"),
        (50.7, "50.7"),
        (None, "None"),
    ],
)
def test_a_value_in_a_message_is_shortened(value: object, expected: str) -> None:
    assert shown(value) == expected
    assert len(shown([[value] * 100] * 100)) <= 61
