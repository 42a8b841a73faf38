"""The first searches on a new hub: abbreviations, corrections of typos, and hints of empty answers."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.search.abbreviations import LONG_WORDS, long_form, meanings
from ctxhub.core.search.ordinary_words import is_ordinary, listed_words
from ctxhub.core.search.search import SearchResult, search
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from tests.databases import rolled_back
from tests.hub import RestClient


def decide(caller: Caller, key: str, value: str, **rest: Any) -> None:
    set_decision(caller=caller, key=key, value=value, **rest)


def find(caller: Caller, query: str, **options: Any) -> SearchResult:
    return search(caller.project_id, query, **options)


def refs(caller: Caller, query: str, **options: Any) -> list[str]:
    return [hit.ref for hit in find(caller, query, **options).hits]


# -- Abbreviations and beginnings ------------------------------------------------------------------


def test_the_question_of_the_readme_is_answered(ada: Caller) -> None:
    decide(ada, "api/auth/method", "JWT")
    assert refs(ada, "What does ctxhub say about authentication, and why?") == ["decision:api/auth/method"]


KEYS = {
    "api/auth/method": "JWT",
    "app/config/format": "TOML",
    "app/env/names": "blue and green",
    "shop/db/engine": "PostgreSQL",
    "code/repo/layout": "one for all",
    "deploy/k8s/version": "1.31",
    "api/msg/limit": "64 KiB",
    "web/i18n/fallback": "English",
    "web/ui/kit": "Carbon",
    "build/ci/runner": "large",
}
QUESTIONS = [
    ("authentication", "api/auth/method"),
    ("How is the configuration written?", "app/config/format"),
    ("Which environments are there?", "app/env/names"),
    ("what database do we run", "shop/db/engine"),
    ("How many repositories?", "code/repo/layout"),
    ("Which kubernetes?", "deploy/k8s/version"),
    ("the longest message", "api/msg/limit"),
    ("internationalization", "web/i18n/fallback"),
    ("cfg", "app/config/format"),
    ("deployment", "deploy/k8s/version"),
    ("authenticator", "api/auth/method"),
    ("postgres", "shop/db/engine"),
    ("datbase", "shop/db/engine"),
    ("user interface", "web/ui/kit"),
    ("How does continuous integration run?", "build/ci/runner"),
]


@pytest.mark.parametrize(("question", "key"), QUESTIONS)
def test_a_long_word_finds_a_short_key(ada: Caller, question: str, key: str) -> None:
    for name, value in KEYS.items():
        decide(ada, name, value)
    assert refs(ada, question)[0] == f"decision:{key}"


@pytest.mark.parametrize(
    ("short", "text"),
    [
        ("auth", "Authentication is by token."),
        ("k8s", "Everything runs on Kubernetes."),
        ("db", "One database for each shop."),
        ("envs", "Three environments are enough."),
        ("lb", "The load balancer ends TLS."),
        ("load balancer", "Our lb ends TLS."),
        ("time to live", "A ttl of one hour."),
        ("migr", "Migrations run at night."),
    ],
)
def test_an_abbreviation_finds_its_long_form(ada: Caller, short: str, text: str) -> None:
    decide(ada, "some/key", text)
    decide(ada, "other/key", "Nothing of the kind.")
    assert refs(ada, short) == ["decision:some/key"]
    listed = call(ada, "decision", {"action": "list", "text": short})
    assert [row[0] for row in listed["rows"]] == ["some/key"]


def test_an_exact_word_ranks_higher(ada: Caller) -> None:
    decide(ada, "a/auth", "By token, for each of the agents.")
    decide(ada, "b/authentication", "By token, for each of the agents.")
    assert refs(ada, "auth") == ["decision:a/auth", "decision:b/authentication"]
    assert refs(ada, "authentication") == ["decision:b/authentication", "decision:a/auth"]


def test_a_key_with_an_abbreviation_is_similar_to_the_long_one(ada: Caller) -> None:
    decide(ada, "shop/db/engine", "PostgreSQL")
    answer = call(ada, "decision", {"key": "shop/database/engine", "value": "MySQL"})
    assert [similar["key"] for similar in answer["similar"]] == ["shop/db/engine"]
    suggestions = call(ada, "decision", {"action": "suggest", "key": "shop/database/engine"})
    assert suggestions["rows"][0][0] == "shop/db/engine"


def test_a_quoted_word_is_not_expanded(ada: Caller) -> None:
    decide(ada, "a/auth", "By token.")
    assert refs(ada, '"authentication"') == []


def test_abbreviations_map_both_ways() -> None:
    assert ("authent",) in meanings("auth")
    assert ("auth",) in meanings("authent")
    assert ("config",) in meanings("cfg")
    assert (long_form("k8s"), long_form("lb"), long_form("token")) == ("kubernet", "lb", "token")


# -- Corrections -----------------------------------------------------------------------------------


@pytest.fixture
def cold_starts(ada: Caller) -> Caller:
    add_constraint(caller=ada, category="performance", text="Cold starts of the API take two seconds.")
    decide(ada, "api/tokens", "Sites keep their tokens for an hour.")
    return ada


@pytest.mark.parametrize(
    "question",
    [
        "what must hold for the API?",
        "which state of the tokens",
        "does vite keep tokens",
        "what did Cole say of tokens",
        "tokens über",
    ],
)
def test_a_right_word_is_not_corrected(cold_starts: Caller, question: str) -> None:
    found = find(cold_starts, question)
    assert (found.search and found.search.did_you_mean, found.method) == (None, "any")
    assert found.hits


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("tokn", "tokens"),
        ("how long do sites keep a tokn", "how long do sites keep a tokens"),
        ("secnods", "seconds"),
        ("Tokns", "tokens"),
    ],
)
def test_a_typo_is_corrected(cold_starts: Caller, question: str, expected: str) -> None:
    found = find(cold_starts, question)
    assert found.search
    assert found.search.did_you_mean == expected
    assert found.hits


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how is the depolyment done", "how is the deployment done"),
        ("how is the deplyment done", "how is the deployment done"),
        ("what of Mteo and tokens", "what of mateo and tokens"),
        ("what of Mpteo and tokens", None),
        ("does recat know tokens", None),
        ("is the autentication by token", "is the authentication by token"),
    ],
)
def test_a_word_is_put_right_that_the_project_has_in_another_form(
    ada: Caller, question: str, expected: str | None
) -> None:
    """The project has the beginning of it, or its abbreviation; of names none but slips are corrected."""
    decide(ada, "deploy", "Mateo deploys on Mondays. He can reach it with a token.")
    decide(ada, "auth", "By token.")
    found = find(ada, question)
    assert (found.search and found.search.did_you_mean) == expected
    assert found.hits


def test_a_corrected_word_that_has_the_beginning_of_another_is_found_as_it(ada: Caller) -> None:
    """`permision` begins like `permit`, too."""
    decide(ada, "a", "Permits of the town.")
    decide(ada, "b", "Ask for permission before.")
    assert refs(ada, "permision")[0] == "decision:b"


@pytest.mark.parametrize("question", ["über", "localisation"])
def test_no_correction_is_offered_that_finds_nothing(cold_starts: Caller, question: str) -> None:
    found = find(cold_starts, question)
    assert found.search
    assert (found.search.did_you_mean, found.method) == (None, "any")


def test_no_form_of_a_word_that_has_an_abbreviation_breaks_the_search(ada: Caller) -> None:
    decide(ada, "a", "Retries are logged here and there.")
    for long_word in LONG_WORDS:
        for variant in (long_word[:-1], f"{long_word}s", f"{long_word}ed", f"{long_word[:-1]}ing"):
            with rolled_back():
                assert find(ada, f"{variant} retries").hits, variant


def test_a_corrected_word_weighs_less_than_a_right_one(ada: Caller) -> None:
    decide(ada, "a", "Retries are logged here and there.")
    decide(ada, "b", "Backups are logged here and there.")
    assert refs(ada, "backups retreis") == ["decision:b", "decision:a"]


def test_ordinary_words_are_recognised_in_all_their_forms() -> None:
    assert all(map(is_ordinary, ["hold", "holds", "holding", "whether", "question", "states"]))
    assert not any(map(is_ordinary, ["tokn", "kubernetes", "postgres", "authn"]))
    assert all(map(is_ordinary, listed_words()))


# -- Nothing found ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "hint"),
    [
        ({"kinds": ["message"]}, "kinds excludes all: without it there is 1."),
        ({"since": "2099-01-01", "kinds": ["decision"]}, "since excludes all: without it there is 1."),
        ({"layer": "data"}, "layer excludes all: without it there is 1."),
        ({"layer": "data", "kinds": ["message"]}, "Without kinds and layer there is 1."),
        ({"by": "nobody"}, "There is no agent 'nobody'."),
    ],
)
def test_an_empty_answer_names_the_filter_that_excluded_all(
    cold_starts: Caller, filters: dict[str, Any], hint: str
) -> None:
    answer = call(cold_starts, "search", {"query": "tokens", **filters})
    assert (answer["count"], answer["hint"]) == (0, hint)
    assert "near" not in answer


def test_the_hint_says_when_no_row_has_all_words(cold_starts: Caller) -> None:
    answer = call(cold_starts, "search", {"query": "tokens seconds", "match": "all"})
    assert (answer["count"], answer["hint"]) == (
        0,
        "Nothing has all of these words; with match any there are 2.",
    )


def test_an_empty_answer_names_the_nearest_refs(cold_starts: Caller) -> None:
    answer = call(cold_starts, "search", {"query": "tokxyns"})
    assert (answer["count"], answer["near"]) == (0, ["decision:api/tokens"])
    assert answer["hint"].startswith("Nothing has these words")


@pytest.mark.parametrize(
    ("query", "near"),
    [
        ("tokxyns -day", ["decision:api/tokens"]),
        ("tokxyns -fifteen", None),
        ("tokxyns -live", None),
        ('tokxyns -"fifteen minutes"', None),
    ],
)
def test_what_is_excluded_is_not_near(ada: Caller, query: str, near: list[str] | None) -> None:
    decide(ada, "api/tokens", "Tokens live for fifteen seconds, or for fifteen minutes.")
    decide(ada, "web/cookies", "Cookies live for a day.")
    answer = call(ada, "search", {"query": query})
    assert (answer["count"], answer.get("near")) == (0, near)


def test_the_hint_says_that_an_exclusion_excluded_all(ada: Caller, ada_rest: RestClient) -> None:
    decide(ada, "api/cache", "The cache is Redis.")
    for query in ("cache -redis", "cahce -redis", "cache -redis -memcached"):
        answer = call(ada, "search", {"query": query})
        assert (answer["count"], "near" in answer) == (0, False)
        assert answer["hint"] == "What has these words has an excluded one, too: without -... there is 1."
        over_rest = ada_rest.get("search/", query=query).body
        assert (over_rest["hint"], "near" in over_rest) == (answer["hint"], False)


def test_the_hint_says_when_nothing_is_near(cold_starts: Caller) -> None:
    answer = call(cold_starts, "search", {"query": "zzzzqqq"})
    assert answer["hint"] == "Nothing has these words, or any like them; other words may find it."
    assert "near" not in answer
