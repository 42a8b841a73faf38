"""Names of new contexts: what a person would call the subject of a text."""

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.search.similarity import Rarity
from ctxhub.toolbox.dispatch import call
from memory.contexts.suggest import find_name
from memory.memories.similar import find_keywords

NAMES = [
    ("Remember: strict mode found three unused exports in the billing service.", "billing service"),
    ("Remember: the CI needs Node 20, otherwise the build fails.", "Node"),
    ("Decision: sessions live in PostgreSQL 16, not in Redis, because of one transaction.", "sessions"),
    (
        "The websocket closes after 55 seconds on Heroku if nothing is sent; a ping keeps it open.",
        "websocket",
    ),
    ("Don't put comments into package.json: the deploy script parses it with jq.", "deploy script"),
    ("The CSV parser drops the last row if the file does not end with a newline.", "CSV parser"),
    ("Run the seed script twice: the first run only creates the roles.", "seed script"),
    ("Kafka consumers stop silently when max.poll.interval.ms is exceeded.", "Kafka consumers"),
    ("Only one instance of the scheduler may run, otherwise reminders are mailed twice.", "scheduler"),
    ("Postgres does not use the index for LIKE 'abc%' unless it has text_pattern_ops.", "Postgres"),
    ("Whenever the schema changes, regenerate the client with make openapi.", "schema"),
    ("The PDF service returns 200 with an empty body on errors, so check the length.", "PDF service"),
    ("Always run make migrate before starting the worker, otherwise it crashes.", "migrate"),
    ("The staging database refuses connections unless the IP is on the allow list.", "staging database"),
    ("If the search index looks empty after a deploy, run reindex.", "search index"),
    ("Turned out that the 502 errors came from the load balancer: it keeps connections.", "load balancer"),
    ("Make sure that feature flags are read once per request.", "feature flags"),
    ("SQLite ignores foreign keys unless PRAGMA foreign_keys=ON is sent.", "foreign keys"),
    ("We decided to use pytest fixtures for the nightly suite.", "pytest fixtures"),
    ("Docker builds took ten minutes since node_modules was copied into the context.", "Docker builds"),
    ("The mobile app caches the config for 24 hours; a changed flag reaches users later.", "mobile app"),
    ("Rate limits of the maps API count per key and not per IP.", "Rate limits"),
    (
        "**Gotcha:** environment variables in docker-compose.yml win over those in .env.",
        "environment variables",
    ),
    ("`sessions/store.py` must not import `billing.api`; the linter refuses it.", "linter"),
    # Neighbours are one name in English alone.
    ("Il faut toujours lancer les migrations avant de démarrer le worker.", "migrations"),
    ("Vor jedem Deployment muss die Warteschlange geleert werden.", "Warteschlange"),
    # Without blanks between words: a word in Latin letters, if there is one.
    ("如果 Celery 任务重复执行,把 visibility_timeout 调大到比最长任务还长。", "Celery"),
    ("缓存键里一定要带租户编号,否则不同客户会看到彼此的数据。", "缓存"),
]


@pytest.mark.parametrize(("text", "name"), NAMES)
def test_a_context_is_named_as_a_person_would_name_it(text: str, name: str) -> None:
    assert " ".join(find_name(text, find_keywords(text, Rarity.of_texts([])))) == name


@pytest.mark.parametrize("text", ["mode found", "run() always", "`a_b.py` --fast", "found, used: set."])
def test_a_text_without_a_subject_has_a_name_all_the_same(text: str) -> None:
    keywords = find_keywords(text, Rarity.of_texts([]))
    assert not keywords or all(find_name(text, keywords))


@pytest.mark.parametrize("label", ["Remember", "Decision", "**Remember**", "- REMEMBER", "Lesson learned"])
def test_the_label_of_a_captured_line_is_not_in_its_title(label: str, ada: Caller) -> None:
    line = "the search index of PostgreSQL 16 must be rebuilt after each restore, or it is empty."
    asked = {"action": "capture", "content": f"{label}: {line}", "context": "auto", "dry_run": True}
    answer = call(ada, "memory", asked)
    assert (answer["title"], answer["context"]) == (line.rstrip("."), "Search Index")


def test_a_long_line_loses_its_label_too(ada: Caller) -> None:
    line = "Remember: " + "the workers of PostgreSQL 16 hang when the disk is full and no space is left " * 3
    answer = call(ada, "memory", {"action": "capture", "content": line, "dry_run": True})
    assert answer["title"].startswith("the workers of")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Exponential back-off with jitter is used, since the gateway drops bursts.", "Exponential back-off"),
        ("Exponential back off is used, since the gateway drops bursts.", "Exponential back-off"),
        ("Canary roll out takes an hour, since the mesh drains slowly.", "Canary roll-out"),
        ("Kubernetes scale-up needs a warm image, otherwise it times out.", "Kubernetes scale-up"),
    ],
)
def test_a_name_ends_with_a_whole_word(text: str, name: str) -> None:
    assert " ".join(find_name(text, find_keywords(text, Rarity.of_texts([])))) == name


def test_an_option_is_no_name() -> None:
    text = "Parallel workers leak: run them with --maxfail, since the fixtures stay."
    assert find_name(text, find_keywords(text, Rarity.of_texts([]))) == ["Parallel", "workers"]
