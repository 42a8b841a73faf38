"""Makes the rows and tasks of a repository."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.repositories.commits import (
    NEWEST,
    SEARCHED,
    RepositoryTask,
    cited_in,
    make_rule_tasks,
    make_tasks,
    quoting,
)
from benchmarks.repositories.git import Commit, Repository
from benchmarks.repositories.notes import Note, read_notes
from benchmarks.repositories.records import Record, folder_of, number_of, read_record, record_files
from benchmarks.repositories.rules import Rule, most_specific_rules, read_rules, rule_files
from benchmarks.tasks.rows import Noun, TaskRow


@dataclass(frozen=True, slots=True)
class Made:
    """What a repository gives. `tasks` cite records; of `rule_tasks` a rule names a path."""

    records: Sequence[Record]
    rules: Sequence[Rule]
    notes: Sequence[Note]
    tasks: Sequence[RepositoryTask]
    rule_tasks: Sequence[RepositoryTask]

    @property
    def figures(self) -> dict[str, int]:
        return {
            "records": len(self.records),
            "rules": len(self.rules),
            "notes": len(self.notes),
            "tasks": len(self.tasks),
            "rule_tasks": len(self.rule_tasks),
        }

    @property
    def rows(self) -> list[TaskRow]:
        """A row's id: `decision-` and the number of the record, `rule-` or `note-` and its place."""
        return [
            *(decision_row(record) for record in self.records),
            *(rule_row(place, rule) for place, rule in enumerate(self.rules)),
            *(note_row(place, note) for place, note in enumerate(self.notes)),
        ]


def make(repository: Repository) -> Made:
    paths = {number_of(path): path for path in record_files(repository.files)}
    commits = repository.commits(SEARCHED)
    citing: dict[int, list[Commit]] = defaultdict(list)
    for commit in commits:
        for number in cited_in(commit.message, paths):
            citing[number].append(commit)
    records = [read_record(repository, path, [*quoting(citing[number])]) for number, path in paths.items()]
    titles = {record.number: record.title for record in records}
    others = {*paths.values(), *rule_files(repository.files)}
    rules = read_rules(repository)
    return Made(
        records,
        rules,
        read_notes(repository, others, folder_of(paths.values())),
        make_tasks(commits, paths, titles, repository.files),
        make_rule_tasks(
            repository.newest(NEWEST),
            paths,
            repository.files,
            lambda named: bool(most_specific_rules(rules, named)),
        ),
    )


def decision_row(record: Record) -> TaskRow:
    return TaskRow(
        f"decision-{record.number}",
        Noun.DECISION,
        record.value,
        title=record.key,
        rationale=record.rationale,
        paths=record.paths,
    )


def rule_row(place: int, rule: Rule) -> TaskRow:
    return TaskRow(
        f"rule-{place}",
        Noun.CONSTRAINT,
        rule.text,
        title=rule.category,
        priority=rule.priority,
        paths=rule.paths,
    )


def note_row(place: int, note: Note) -> TaskRow:
    return TaskRow(f"note-{place}", Noun.MEMORY, note.text, title=note.title, context="docs")
