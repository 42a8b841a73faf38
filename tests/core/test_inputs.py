"""What a name, a text, a list or a word may be, whichever face it came through."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit import inputs
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, nearest, shown, unknown_word
from ctxhub.core.models import Project
from memory.models import DecisionStatus

CALLER = Caller(project=Project(slug="apollo"), agent="ada")

anything = st.text(st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("said", "clean"),
    [(" a ", "a"), ("e\u0301", "é"), ("a\u00a0", "a"), ("A b", "A b"), ("\u200b", "\u200b")],
)
def test_a_name_is_stripped_and_composed(said: str, clean: str) -> None:
    assert inputs.clean_name(said, "key") == clean


@pytest.mark.parametrize("said", ["", " ", "\n\t", "\u3000", "a\x00", "\ud800", "a" * 201])
def test_a_name_that_is_none_is_refused_by_its_name(said: str) -> None:
    with pytest.raises(InvalidInput, match="key"):
        inputs.clean_name(said, "key")


def test_a_name_is_counted_in_characters_as_composed() -> None:
    assert len(inputs.clean_name("e\u0301" * 200, "key")) == 200
    assert len(inputs.clean_name("👩" * 200, "key")) == 200


@given(anything)
def test_a_clean_name_stays_as_it_is(said: str) -> None:
    try:
        clean = inputs.clean_name(said, "key")
    except InvalidInput:
        return
    assert inputs.clean_name(clean, "key") == clean


def test_a_text_is_counted_in_bytes() -> None:
    assert inputs.clean_text("é" * 32 * 1024, "value", CALLER)
    with pytest.raises(InvalidInput, match="65,537 bytes; the limit is 65,536"):
        inputs.clean_text("é" * 32 * 1024 + "x", "value", CALLER)


def test_a_text_is_kept_as_it_is() -> None:
    assert inputs.clean_text("  e\u0301\r\n", "value", CALLER) == "  e\u0301\r\n"


def test_words_are_each_kept_once_by_their_first_spelling() -> None:
    assert inputs.clean_words(["API", "api", " x ", "ß", "SS"], "tags") == ["API", "x", "ß"]


def test_a_refused_word_is_named_by_its_place() -> None:
    with pytest.raises(InvalidInput, match=r"tags\[1\]"):
        inputs.clean_words(["a", " "], "tags")


@pytest.mark.parametrize(
    ("said", "clean"),
    [
        ("src/**/*.py", "src/**/*.py"),
        ("./a", "a"),
        ("a\\b", "a/b"),
        ("..a/b..", "..a/b.."),
        ("a/...", "a/..."),
    ],
)
def test_a_path_is_relative_and_slashed(said: str, clean: str) -> None:
    assert inputs.clean_path(said, "paths") == clean


@pytest.mark.parametrize(
    "said", ["/a", "..", "../a", "a/../b", "a/..", "C:/a", "c:a", "\\\\host\\a", "./../a", "./", " "]
)
def test_a_path_that_leaves_the_repository_is_refused(said: str) -> None:
    with pytest.raises(InvalidInput):
        inputs.clean_path(said, "paths")


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
def test_what_is_no_json_or_too_much_of_it_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="metadata"):
        inputs.clean_object(value, "metadata", CALLER)


@pytest.mark.parametrize("value", [nested(20), {}, {"a": None, "b": [1.5, True, "é"]}, {"a": 10**400}])
def test_other_json_is_kept(value: Any) -> None:
    assert inputs.clean_object(value, "metadata", CALLER) == value


def test_metadata_merges_by_key_and_null_removes() -> None:
    assert inputs.merge_object({"a": 1, "b": 2}, {"b": None, "c": {"d": None}}) == {"a": 1, "c": {"d": None}}


@pytest.mark.parametrize("said", ["active", "ACTIVE", " Active ", "1", 1])
def test_a_choice_is_a_word_or_its_number(said: Any) -> None:
    assert inputs.clean_choice(said, DecisionStatus, "status") is DecisionStatus.ACTIVE


@pytest.mark.parametrize("said", ["", "activ", "0", 4, 1.0, None, "1.0", "٣"])
def test_another_choice_is_refused_with_the_known_ones(said: Any) -> None:
    with pytest.raises(InvalidInput, match="active, deprecated, draft"):
        inputs.clean_choice(said, DecisionStatus, "status")


@pytest.mark.parametrize(("said", "is_all"), [("any", False), ("OR", False), ("all", True), (" and ", True)])
def test_match_speaks_the_sources_words_too(said: str, is_all: bool) -> None:
    assert inputs.clean_match(said) is is_all


@pytest.mark.parametrize("value", [True, False, float("nan"), float("-inf"), 10**300])
def test_a_number_is_finite_and_no_boolean(value: Any) -> None:
    with pytest.raises(InvalidInput):
        inputs.clean_number(value, "value")


def test_a_secret_is_refused_by_its_place_unless_the_caller_keeps_them() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    with pytest.raises(InvalidInput, match=r"rationale .* at character 4"):
        inputs.clean_text(f"use {secret}", "rationale", CALLER)
    keeper = Caller(project=CALLER.project, agent="ada", keeps_secrets=True)
    assert inputs.clean_text(f"use {secret}", "rationale", keeper)


# -- Whatever comes in, a refusal comes out --------------------------------------------------------

CLEANERS: dict[str, Callable[[Any], Any]] = {
    "name": lambda said: inputs.clean_name(said, "x"),
    "text": lambda said: inputs.clean_text(said, "x", CALLER),
    "words": lambda said: inputs.clean_words([said, said], "x"),
    "path": lambda said: inputs.clean_path(said, "x"),
    "json": lambda said: inputs.clean_json({said: [said]}, "x", CALLER),
    "choice": lambda said: inputs.clean_choice(said, DecisionStatus, "x"),
    "match": inputs.clean_match,
    "moment": lambda said: inputs.clean_moment(said, "x"),
}


@pytest.mark.parametrize("cleaner", CLEANERS)
@given(said=anything)
def test_any_text_is_cleaned_or_refused_and_can_be_stored(cleaner: str, said: str) -> None:
    try:
        cleaned = CLEANERS[cleaner](said)
    except CtxhubError as error:
        str(error.body()).encode()
        return
    if isinstance(cleaned, str):
        assert "\x00" not in cleaned
        cleaned.encode()


# -- Near words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("busines", "business"),
        ("BUSINESS", "business"),
        ("infra", "infrastructure"),
        ("zzz", None),
        ("", None),
    ],
)
def test_the_nearest_known_word_is_offered(word: str, meant: str | None) -> None:
    assert nearest(word, ["presentation", "business", "data", "infrastructure", "cross-cutting"]) == meant


def test_an_unknown_word_names_the_known_ones() -> None:
    body = unknown_word("layer", "busines", ["business", "data"]).body()
    assert body == {
        "error": "invalid",
        "message": "layer: 'busines' is not known; use one of: business, data.",
        "did_you_mean": "business",
        "allowed": ["business", "data"],
    }


@pytest.mark.parametrize(("said", "known"), [(" ada ", "ada"), ("Ada L.", "Ada L."), ("$ada", "$ada")])
def test_an_agents_name_is_cleaned(said: str, known: str) -> None:
    assert inputs.clean_agent(said) == known


@pytest.mark.parametrize("said", ["", "x" * 101, "${AGENT}", "a-${USER:-x}", "ghp_" + "a1B2c3D4e5" * 4])
def test_what_is_no_agents_name_is_refused_by_its_place(said: str) -> None:
    with pytest.raises(InvalidInput, match="Ctxhub-Agent"):
        inputs.clean_agent(said, "Ctxhub-Agent")


@pytest.mark.parametrize(
    ("said", "repeated"),
    [
        ("x", "'x'"),
        ("x" * 60, repr("x" * 60)),
        ("x" * 61, "'" + "x" * 59 + "…"),
        (50.7, "50.7"),
        (None, "None"),
    ],
)
def test_what_was_said_is_repeated_in_short(said: object, repeated: str) -> None:
    assert shown(said) == repeated
    assert len(shown([[said] * 100] * 100)) <= 61
