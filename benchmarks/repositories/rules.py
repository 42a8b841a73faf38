"""Rules: the orders in files for agents and contributors, and the paths on which each bears."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.repositories.git import Repository
from benchmarks.repositories.globs import names, specificity
from benchmarks.repositories.prose import (
    clipped,
    front_matter,
    list_items,
    named_paths,
    paragraphs,
    plain,
    sections,
)
from benchmarks.repositories.spread import evenly

FILE = re.compile(
    r"(?:^|/)(?:AGENTS\.md|CLAUDE\.md|GEMINI\.md|CONTRIBUTING\.md|\.cursorrules|\.windsurfrules"
    r"|copilot-instructions\.md|\.cursor/rules/[^/]+\.mdc?|\.claude/rules/[^/]+\.md"
    r"|\.github/instructions/[^/]+\.md)$"
)
GENERAL = re.compile(r"(?:^|/)(?:\.github|\.cursor|\.claude|docs?)(?:/|$)")
GLOBS = re.compile(r"^(?:globs|applyTo|paths):\s*(.*(?:\n\s+-\s.*)*)", re.MULTILINE)
GLOB = re.compile(r"`([\w./*{},-]*/[\w./*{},-]*\*[\w./*{},-]*|[\w./-]*\*\*?/[\w./*{},-]+)`")
STRONG = re.compile(r"\b(?:must|never|always|forbidden|mandatory)\b", re.IGNORECASE)
MODAL = re.compile(
    rf"{STRONG.pattern}|\b(?:do not|don['’]t|should|shall|required|avoid|may not|cannot)\b", re.IGNORECASE
)
_VERBS = (
    "use|run|keep|add|write|make|ensure|put|follow|prefer|read|check|include|create|update|test|commit|do|leave|name"
    "|call|set|return|handle|pass|place|document|define|import|export|treat|store|log|verify|only|no|open|rebase"
    "|squash|sign|format|lint|start|begin|limit|remove|delete|reuse|extend|wrap|validate|mock"
)
VERB = re.compile(rf"(?:please )?(?:{_VERBS})\b", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!])\s+(?=[A-Z`*])")
LEAST, MOST = 20, 500
MOST_PATHS = 10
MOST_RULES = 400


@dataclass(frozen=True, slots=True)
class Rule:
    category: str
    text: str
    priority: str
    paths: tuple[str, ...]


def rule_files(files: Iterable[str]) -> list[str]:
    return sorted(path for path in files if FILE.search(path))


def read_rules(repository: Repository) -> list[Rule]:
    """Each text once, where it stands first."""
    found: dict[str, Rule] = {}
    for path in rule_files(repository.files):
        for rule in rules_of(path, repository.read(path), repository):
            found.setdefault(rule.text.casefold(), rule)
    return evenly(list(found.values()), MOST_RULES)


def rules_of(path: str, text: str, repository: Repository) -> Iterator[Rule]:
    """`repository`: its files and folders, whose names in a text are paths."""
    own = globs_of(front_matter(text))
    folder = posixpath.dirname(path)
    nested = (f"{folder}/**",) if folder and not GENERAL.search(folder) else ()
    heading = posixpath.basename(path)
    for section in sections(text):
        heading = section.heading or heading
        for order in orders(section.text):
            known = named_paths(order, repository.files, repository.folders, at=folder)
            named = tuple(dict.fromkeys([*known, *GLOB.findall(order)]))[:MOST_PATHS]
            priority = "high" if STRONG.search(order) else "medium"
            yield Rule(heading[:100], order, priority, own or named or nested)


def orders(text: str) -> Iterator[str]:
    """The list items and sentences that order something."""
    for paragraph in paragraphs(text):
        items = list_items(paragraph)
        for order in items or SENTENCE.split(" ".join(paragraph.split())):
            words = plain(order)
            is_order = MODAL.search(words) or (items and VERB.match(words))
            if len(words) >= LEAST and is_order:
                yield clipped(order.strip(), MOST)


def globs_of(front: str) -> tuple[str, ...]:
    """The globs of Cursor's and Copilot's front matter; one of everything is none."""
    found = GLOBS.search(front)
    if not found:
        return ()
    globs = re.findall(r"[^\s\"'\[\],]+", found[1].replace("\n", ","))
    return tuple(glob for glob in globs if glob not in {"-", "**", "**/*", "*"})[:MOST_PATHS]


def most_specific_rules(rules: Sequence[Rule], paths: Sequence[str]) -> list[int]:
    """The places of the rules that name one of the paths most exactly; often several of one folder."""
    scored: dict[int, tuple[int, bool]] = {}
    for place, rule in enumerate(rules):
        naming = [glob for glob in rule.paths if any(names(glob, path) for path in paths)]
        if naming:
            scored[place] = max(specificity(glob) for glob in naming)
    best = max(scored.values(), default=None)
    return [place for place, score in scored.items() if score == best]
