"""What the hub gives for the tasks of a repository: briefs, search and check, through the tools."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.repositories.commits import RepositoryTask
from benchmarks.repositories.making import Made
from benchmarks.repositories.rules import most_specific_rules
from benchmarks.tasks.writing import AGENT, CLOCK, NOW, write_team

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

BUDGETS = (1_500, 800)
HITS = 10
DECISION, CONSTRAINT, MEMORY = "decision:", "constraint:", "memory:"


@dataclass(frozen=True, slots=True)
class Answer:
    """The refs of an answer in their order, its tokens, and those of the memories in it."""

    refs: tuple[str, ...]
    tokens: int = 0
    memory_tokens: int = 0

    def holds(self, kind: str) -> bool:
        return any(ref.startswith(kind) for ref in self.refs)

    def recall(self, right: Sequence[str]) -> float:
        return len(set(right) & set(self.refs)) / len(right)


@dataclass(frozen=True, slots=True)
class Asked:
    """A task and what was given for it. `briefs` by their budget; `named`: for the task with its paths.

    `right`: the refs of its decisions; `rules`: those of the most specific rules that name one of its paths.
    """

    task: RepositoryTask
    right: tuple[str, ...]
    rules: tuple[str, ...]
    briefs: Mapping[int, Answer]
    named: Mapping[int, Answer]
    search: Answer
    check: Answer


@dataclass
class Project:
    """The project of a repository, seeded; `ids` is the id of each row by its ref."""

    caller: "Caller"
    made: Made
    refs: Mapping[str, str]
    ids: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = {ref: row_id for row_id, ref in self.refs.items()}

    def ask(self, task: RepositoryTask) -> Asked:
        most_specific = most_specific_rules(self.made.rules, task.paths)
        with patch(CLOCK, return_value=NOW):
            return Asked(
                task,
                tuple(self.refs[f"decision-{number}"] for number in task.right),
                tuple(dict.fromkeys(self.refs[f"rule-{place}"] for place in most_specific)),
                {budget: self._brief(task.subject, budget) for budget in BUDGETS},
                {budget: self._brief(task.with_paths, budget) for budget in BUDGETS},
                self._search(task.subject),
                self._check(task.paths),
            )

    def _brief(self, task: str, budget: int) -> Answer:
        text = self._call("brief", {"task": task, "budget_tokens": budget})
        found = json.loads(text)["sections"]
        memories = [section for section in found if section["name"] == "memories"]
        refs = [ref for section in found for ref in _refs(section)]
        return Answer(tuple(refs), _tokens(text), sum(_tokens(json.dumps(rows)) for rows in memories))

    def _search(self, query: str) -> Answer:
        text = self._call("search", {"query": query, "kinds": ["decision"], "limit": HITS})
        return Answer(tuple(_refs(json.loads(text))), _tokens(text))

    def _check(self, paths: Sequence[str]) -> Answer:
        text = self._call("check", {"paths": list(paths)})
        found = json.loads(text)
        refs = [ref for name in ("constraints", "decisions") for ref in _refs(found.get(name))]
        return Answer(tuple(refs), _tokens(text))

    def _call(self, tool: str, arguments: dict[str, Any]) -> str:
        from ctxhub.toolbox import dispatch

        return dispatch.as_text(dispatch.call(self.caller, tool, arguments))


def seed(slug: str, made: Made) -> Project:
    """A new project with the rows, written by a team over sixty days."""
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller

    caller = Caller(project=create_project(slug=slug), agent=AGENT, keeps_secrets=True)
    return Project(caller, made, write_team(caller, made.rows, set()))


def _refs(table: Mapping[str, Any] | None) -> Iterator[str]:
    if table and table["rows"]:
        place = table["columns"].index("ref")
        yield from (row[place] for row in table["rows"])


def _tokens(text: str) -> int:
    from ctxhub.core.text.token_count import count_tokens

    return count_tokens(text)
