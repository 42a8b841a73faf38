"""Tasks: commits whose messages cite records, without the citation."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.repositories.git import Commit
from benchmarks.repositories.prose import PROSE
from benchmarks.repositories.records import folder_of, stem_of
from benchmarks.repositories.spread import evenly
from benchmarks.tasks.rows import HELD_OUT_EVERY

# For git, which knows no \d.
SEARCHED = r"adrs?[-_ #:/]*[0-9]|(adrs?|decisions|decision-records|architecture)/[^ ]*[0-9]"
_NEXT = r"(?:\s*(?:,|/|&|\+|–)\s*|,?\s+and\s+)(?:ADRs?[-_ #:/]*)?\d{2,4}(?!\d)"
CITED = re.compile(rf"\bADRs?[-_ #:/]*\d{{1,4}}(?!\d)(?:{_NEXT})*", re.IGNORECASE)
_FOLDER = r"(?:adrs?|decisions|decision-records|architecture)/(?:adr[-_]?)?"
IN_PATH = re.compile(rf"{_FOLDER}(\d{{2,4}})(?!\d)", re.IGNORECASE)
# In a subject with what follows: a section, a numbered decision of the record.
CITATION = re.compile(rf"{CITED.pattern}(?:\s*(?:§+\s*[\w.]+|D\d+\b|decision \d+))*", re.IGNORECASE)
PATH_OF_RECORD = re.compile(rf"[^\s()\[\]]*{_FOLDER}\d{{2,4}}[^\s()\[\],]*", re.IGNORECASE)
ISSUE = re.compile(r"[\w./-]*#\d+")
# What was cut is a NUL until what led to it is cut as well.
CUT = "\0"
_LEADING = (
    "per|see|refs?|part of|according to|as per|following|from|under|of|in|to|and|with|by|cf|for|implements?"
    "|amends?|closes|fixes"
)
EMPTY = re.compile(rf"[(\[]\s*(?:(?:{_LEADING})\b\.?)?[\s,;:/&+·—–{CUT}-]*[)\]]", re.IGNORECASE)
DANGLING = re.compile(rf"(?:(?<!\w)(?:{_LEADING})\s+)?{CUT}", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]{3,}")
# A bump, a revert, or an answer to a review: the subject says nothing of what is to be done.
NO_TASK = re.compile(
    r"^(?:\w+\(deps[^)]*\)|(?:\w+(?:\([^)]*\))?!?:\s*)?(?:bump|revert)\b)"
    r"|\b(?:address|apply|resolve|incorporate)\w*\b.*\b(?:review|feedback|comments?)\b"
    r"|\breview (?:feedback|comments?|fixes)\b",
    re.IGNORECASE,
)
OF_RECORDS = re.compile(r"\badrs?\b", re.IGNORECASE)
LOCK = re.compile(
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|go\.sum|[\w.-]+\.lock|npm-shrinkwrap\.json)$"
)
TEST = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|fixtures|golden|testdata|e2e)/|[._-](?:test|spec)s?\.|(?:^|/)test_"
)
MOST_CITED, MOST_TOUCHED, LEAST_WORDS, MOST_TASKS = 3, 60, 3, 36
# Of the newest commits; enough to spread over.
MOST_RULE_TASKS, NEWEST = 18, 1_000


@dataclass(frozen=True, slots=True)
class RepositoryTask:
    """A commit. `right`: the numbers of the records that it cites; `paths`: one or two of its files."""

    number: int
    commit: str
    subject: str
    paths: tuple[str, ...]
    right: tuple[int, ...]

    @property
    def with_paths(self) -> str:
        return f"{self.subject}: {', '.join(self.paths)}"

    @property
    def is_held_out(self) -> bool:
        return self.number % HELD_OUT_EVERY == 0


def cited_in(message: str, records: Mapping[int, str]) -> set[int]:
    """The numbers of the records that a message cites. `records`: the path of each by its number."""
    found = {int(number) for citation in CITED.findall(message) for number in re.findall(r"\d+", citation)}
    found |= {int(number) for number in IN_PATH.findall(message)}
    lowered = message.casefold()
    found |= {number for number, path in records.items() if stem_of(path).casefold() in lowered}
    return found & records.keys()


def make_tasks(
    commits: Sequence[Commit], records: Mapping[int, str], titles: Mapping[int, str], files: Collection[str]
) -> list[RepositoryTask]:
    """`commits` newest first; the oldest task has the number 1. `titles`: of the records."""
    made: dict[str, RepositoryTask] = {}
    for commit in reversed(commits):
        right = tuple(sorted(_right(commit, records)))
        subject = without_citation(commit.subject, [titles[number] for number in right])
        paths = task_paths(commit.touched, files, folder_of(records.values()))
        if right and paths and _says_enough(subject):
            made.setdefault(subject.casefold(), RepositoryTask(0, commit.hash, subject, paths, right))
    return _numbered(evenly(list(made.values()), MOST_TASKS))


def make_rule_tasks(
    commits: Sequence[Commit],
    records: Mapping[int, str],
    files: Collection[str],
    is_ruled: Callable[[Sequence[str]], bool],
) -> list[RepositoryTask]:
    """`is_ruled`: whether a rule names one of the paths."""
    made: dict[str, RepositoryTask] = {}
    for commit in reversed(commits):
        subject = without_citation(commit.subject, [])
        paths = task_paths(commit.touched, files, folder_of(records.values()))
        is_task = _is_task(commit) and _says_enough(subject)
        if is_task and paths and not cited_in(commit.message, records) and is_ruled(paths):
            made.setdefault(subject.casefold(), RepositoryTask(0, commit.hash, subject, paths, ()))
    return _numbered(evenly(list(made.values()), MOST_RULE_TASKS))


def _says_enough(subject: str) -> bool:
    """Some words, of the work and not of records as such."""
    return len(WORD.findall(subject)) >= LEAST_WORDS and not OF_RECORDS.search(subject)


def _numbered(tasks: Sequence[RepositoryTask]) -> list[RepositoryTask]:
    return [replace(task, number=number) for number, task in enumerate(tasks, start=1)]


def _right(commit: Commit, records: Mapping[int, str]) -> set[int]:
    if not _is_task(commit):
        return set()
    added = {stem_of(path) for path in commit.added if path.endswith(PROSE)}
    cited = cited_in(commit.message, records)
    known = {number for number in cited if stem_of(records[number]) not in added}
    return known if len(cited) <= MOST_CITED else set()


def _is_task(commit: Commit) -> bool:
    is_prose = all(path.endswith(PROSE) for path in commit.touched)
    return not is_prose and len(commit.touched) <= MOST_TOUCHED and not NO_TASK.search(commit.subject)


def task_paths(touched: Iterable[str], files: Collection[str], folder: str) -> tuple[str, ...]:
    """The first and the last by name of what the commit touches and the repository still has.

    `folder`: of the records, in which even another file is none.
    """
    kept = sorted(
        path for path in touched if path in files and not (folder and path.startswith(f"{folder}/"))
    )
    kept = [path for path in kept if not path.endswith(PROSE) and not LOCK.search(path)]
    kept = [path for path in kept if not TEST.search(path)] or kept
    return tuple(dict.fromkeys([*kept[:1], *kept[-1:]]))


def without_citation(subject: str, titles: Sequence[str]) -> str:
    """The subject without the citation, the titles of the records, and numbers of issues."""
    text = PATH_OF_RECORD.sub(CUT, subject)
    text = CITATION.sub(CUT, text)
    for title in titles:
        text = re.sub(re.escape(title), CUT, text, flags=re.IGNORECASE)
    text = ISSUE.sub(CUT, text)
    text = DANGLING.sub("", EMPTY.sub("", EMPTY.sub("", text)))
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+([:;,.)])", r"\1", text)
    return re.sub(r"([(\[])\s+", r"\1", text).strip(" —–-:;,/")


def quoting(commits: Iterable[Commit]) -> Iterator[str]:
    """Patterns of what a record's line must not have: commits' numbers, hashes and subjects."""
    for commit in commits:
        yield commit.hash[:7]
        yield from (rf"{number}(?!\d)" for number in re.findall(r"#\d+", commit.subject))
        if len(WORD.findall(commit.subject)) >= LEAST_WORDS:
            yield re.escape(commit.subject)
