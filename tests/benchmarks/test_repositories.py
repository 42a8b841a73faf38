"""The rules by which tasks are made from repositories, with texts of our own."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.repositories import globs
from benchmarks.repositories.commits import cited_in, task_paths, without_citation
from benchmarks.repositories.git import Repository
from benchmarks.repositories.listing import read_listed
from benchmarks.repositories.making import Made, make
from benchmarks.repositories.prose import list_items, named_paths, sections
from benchmarks.repositories.records import decision_of, record_files, without_quotes
from benchmarks.repositories.rules import Rule, globs_of, most_specific_rules, orders
from benchmarks.repositories.spread import evenly

RECORDS = {7: "docs/adr/0007-use-queues.md", 12: "docs/adr/0012-one-writer.md"}

QUEUES = """---
title: 7. Use queues
---

# 7. Use queues

## Decision drivers

- Mails were lost.

## Context

Mails were sent in the request, by `shop/mail/send.py`.

## Decision

Mails go through a queue.

It is a table.

### Detail

One row a mail.

## Consequences

A worker has to run.
"""

WRITER = """# ADR-0012: One writer

## Decision outcome

Only `shop/store/` writes stock. See #31 for the first part.
Others ask it.
"""

AGENTS = """# Working here

- Always run `make check`.
- The shop began in spring.
- Use the helpers in `shop/store/` to write stock.

Nobody knows why. You must not log addresses.
"""


# -- Citations -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "Send mails later (ADR-0007)",
        "Send mails later, per ADR 7",
        "Send mails later\n\nSee docs/adr/0007-use-queues.md",
        "Send mails later\n\nadr/0007 says so",
        "Send mails later, as 0007-use-queues wants",
    ],
)
def test_a_message_cites_a_record_in_several_ways(message: str) -> None:
    assert cited_in(message, RECORDS) == {7}


def test_a_message_cites_several_records() -> None:
    assert cited_in("ADR-0007/0012", RECORDS) == cited_in("ADRs 7 and 12", RECORDS) == {7, 12}


@pytest.mark.parametrize(
    "message", ["Order 7 of 12", "ADR 99", "ADR 2007", "adr-0070", "ADRIAN 7", "issue #7"]
)
def test_other_numbers_cite_nothing(message: str) -> None:
    assert cited_in(message, RECORDS) == set()


@pytest.mark.parametrize(
    "subject",
    [
        "fix(mail): send later (ADR-0007) (#31)",
        "fix(mail): send later per ADR 7 §2 (#31)",
        "fix(mail): send later, ADR-0007/0012",
        "fix(mail): send later (docs/adr/0007-use-queues.md, ADR 12)",
        "fix(mail): send later — Use queues (ADR-0007 D2)",
        "[#31] fix(mail): send later (closes #4)",
    ],
)
def test_a_task_does_not_say_what_it_cites(subject: str) -> None:
    assert without_citation(subject, ["Use queues"]) == "fix(mail): send later"


def test_only_the_citation_is_cut() -> None:
    assert (
        without_citation("Log in to the shop (see below) in ADR-7 mode", [])
        == "Log in to the shop (see below) mode"
    )


def test_a_task_names_code_before_tests_and_no_prose() -> None:
    files = {"a/z.py", "a/m.py", "a/b.py", "a/test_a.py", "a/A.md", "uv.lock", "docs/adr/index.yml"}
    assert task_paths(files, files, "docs/adr") == ("a/b.py", "a/z.py")
    assert task_paths({"a/test_a.py", "a/A.md"}, files, "docs/adr") == ("a/test_a.py",)
    assert task_paths({"gone.py"}, files, "docs/adr") == ()


# -- Texts -----------------------------------------------------------------------------------------


def test_records_are_the_numbered_files_of_one_folder_without_shared_numbers() -> None:
    files = {
        *RECORDS.values(),
        "docs/adr/0000-template.md",
        "docs/adr/index.md",
        "docs/adr/0003-left.md",
        "docs/adr/0003-right.md",
        "old/adr/0001-other.md",
        "docs/architecture/02-layers.md",
    }
    assert record_files(files) == list(RECORDS.values())
    assert record_files({"docs/architecture/adr-002-layers.md"}) == ["docs/architecture/adr-002-layers.md"]


def test_the_decision_has_its_subsections_and_is_not_what_drove_it() -> None:
    assert (
        decision_of(sections(QUEUES))
        == "Mails go through a queue.\n\nIt is a table.\n\nDetail\n\nOne row a mail."
    )


def test_a_line_that_quotes_a_commit_is_left_out() -> None:
    assert without_quotes("one\ntwo (#31)\nthree #310", [r"#31(?!\d)"]) == "one\nthree #310"


def test_a_heading_in_code_begins_no_section() -> None:
    assert [section.heading for section in sections("# A\n```sh\n# no\n```\n## B")] == ["", "A", "B"]


def test_items_have_their_continued_lines() -> None:
    assert list_items("- one\n  more\n- [ ] two\n1. three") == ["one more", "two", "three"]
    assert list_items("No list.") == []


def test_paths_are_those_that_exist() -> None:
    text = "`shop/a.py:12`, `shop/b.py`, [see](../shop/a.py#L3), `shop`, `shop/`, `a.py`"
    assert list(named_paths(text, {"shop/a.py"}, {"shop"}, at="docs")) == [
        "shop/a.py",
        "shop/a.py",
        "shop/**",
    ]


def test_orders_are_items_that_order_and_sentences_with_must() -> None:
    assert [*orders(sections(AGENTS)[1].text)] == [
        "Always run `make check`.",
        "Use the helpers in `shop/store/` to write stock.",
        "You must not log addresses.",
    ]


@pytest.mark.parametrize(
    "front",
    ["globs: src/**/*.ts, web/**", 'applyTo: "src/**/*.ts,web/**"', 'paths:\n  - "src/**/*.ts"\n  - web/**'],
)
def test_globs_of_a_front_matter(front: str) -> None:
    assert globs_of(f"description: Any\n{front}\nalwaysApply: false") == ("src/**/*.ts", "web/**")


def test_a_glob_of_everything_is_none() -> None:
    assert globs_of('applyTo: "**"') == ()


# -- Globs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "glob", ["shop/**", "shop/*/b.py", "**/*.py", "*.py", "shop/{a,c}/b.py", "shop/a/b.py"]
)
def test_a_glob_names_a_path(glob: str) -> None:
    assert globs.names(glob, "shop/a/b.py")


@pytest.mark.parametrize("glob", ["shop/*", "shop", "a/b.py", "shop/{b,c}/b.py", "*.p"])
def test_a_glob_does_not_name_a_path(glob: str) -> None:
    assert not globs.names(glob, "shop/a/b.py")


def test_the_most_specific_rules_name_the_deepest_folder_or_the_file() -> None:
    rules = [
        Rule("", "everywhere", "high", ()),
        Rule("", "all", "high", ("**/*.py",)),
        Rule("", "shop", "high", ("shop/**",)),
        Rule("", "store", "medium", ("shop/store/**", "web/**")),
        Rule("", "other", "medium", ("shop/cart/**",)),
    ]
    assert most_specific_rules(rules, ("shop/store/a.py", "readme")) == [3]
    assert most_specific_rules(
        [*rules, Rule("", "file", "low", ("shop/store/a.py",))], ("shop/store/a.py",)
    ) == [5]
    assert most_specific_rules(rules, ("Makefile",)) == []


def test_a_choice_is_spread_evenly() -> None:
    assert evenly(range(10), 5) == [0, 2, 4, 6, 8]
    assert evenly(range(3), 5) == [0, 1, 2]


# -- A repository ----------------------------------------------------------------------------------


def test_a_repository_gives_records_rules_notes_and_tasks(made: Made) -> None:
    assert made.figures == {"records": 2, "rules": 3, "notes": 1, "tasks": 2, "rule_tasks": 1}
    assert [row.id for row in made.rows] == [
        "decision-7",
        "decision-12",
        "rule-0",
        "rule-1",
        "rule-2",
        "note-0",
    ]


def test_a_record_has_what_was_decided_why_and_where(made: Made) -> None:
    queues, writer = made.records
    assert (queues.key, queues.title) == ("adr/0007-use-queues", "Use queues")
    reasons = queues.rationale.split("\n\n")
    assert reasons[0] == "- Mails were lost."
    assert reasons[1].startswith("Mails were sent in the request")
    assert reasons[2] == "A worker has to run."
    assert queues.paths == ("shop/mail/send.py",)
    assert writer.value == "Others ask it."


def test_rules_have_priorities_and_paths(made: Made) -> None:
    assert [rule.priority for rule in made.rules] == ["high", "medium", "high"]
    assert [rule.paths for rule in made.rules] == [(), ("shop/store/**",), ()]


def test_tasks_are_the_commits_that_cite_oldest_first(made: Made) -> None:
    assert [(task.number, task.subject, task.right, task.paths) for task in made.tasks] == [
        (1, "Count stock in one place", (12,), ("shop/store/stock.py",)),
        (2, "Send mails in the background", (7,), ("shop/mail/queue.py", "shop/mail/send.py")),
    ]
    assert made.tasks[1].with_paths == "Send mails in the background: shop/mail/queue.py, shop/mail/send.py"


def test_other_commits_are_tasks_where_a_rule_names_their_paths(made: Made) -> None:
    assert [(task.subject, task.right, task.paths) for task in made.rule_tasks] == [
        ("Count stock twice", (), ("shop/store/stock.py",))
    ]


def test_every_third_task_is_held_out(made: Made) -> None:
    assert not any(task.is_held_out for task in made.tasks)


def test_the_listed_repositories_give_tasks() -> None:
    listed = read_listed()
    assert len({one.name for one in listed}) == len({one.slug for one in listed}) == len(listed) >= 6
    assert all(len(one.commit) == 40 for one in listed)
    assert sum(one.figures["tasks"] >= 5 for one in listed) >= 6


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    home = tmp_path_factory.mktemp("repository")
    _git(home, "init", "-q")
    note = "The shop sells what the team likes. " * 4
    _commit(
        home,
        "Begin",
        {
            "README.md": f"# Shop\n\n{note}",
            "AGENTS.md": AGENTS,
            RECORDS[7]: QUEUES,
            "shop/mail/send.py": "",
            "shop/store/stock.py": "",
        },
    )
    _commit(home, "Count all stock\n\nADR-0012", {RECORDS[12]: WRITER, "shop/store/stock.py": "0"})
    _commit(home, "Count stock in one place (ADR-0012) (#31)", {"shop/store/stock.py": "1"})
    _commit(home, "Say more of queues (ADR-0007)", {RECORDS[7]: QUEUES + "\nMore.\n"})
    _commit(
        home,
        "Send mails in the background\n\nAs ADR 7 wants.",
        {"shop/mail/send.py": "1", "shop/mail/queue.py": "1", "shop/mail/README.md": "Short."},
    )
    _commit(home, "Check the status of every ADR (ADR-0007)", {"shop/mail/send.py": "1.5"})
    _commit(home, "Address review\n\nADR-0007", {"shop/mail/send.py": "2"})
    _commit(home, "Send mails to others", {"shop/mail/send.py": "3"})
    _commit(home, "Count stock twice (#12)", {"shop/store/stock.py": "2"})
    return make(Repository(home))


def _commit(home: Path, message: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _git(home, "add", "-A")
    _git(home, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", message)


def _git(home: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(home), *arguments], check=True, capture_output=True)
