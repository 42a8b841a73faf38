"""Twenty questions of brief, search and get, taken from what a hub holds, and their answers."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ctxhub.core import registry
from ctxhub.core.accounts.agents import known_agents
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Project
from ctxhub.core.search.search import answer_search
from sessions.briefs.brief import brief

QUESTIONS = 20
PROJECTS = 20
NEWEST = 7
WORDS, CHARACTERS = 12, 200
NOBODY = "drill"
BRIEF, SEARCH, GET = "brief", "search", "get"
_KINDS = (BRIEF, SEARCH, GET)


@dataclass(frozen=True, slots=True)
class Question:
    """`text`: the task of a brief, the query of a search, the ref to get. `agent`: who asks."""

    kind: str
    project_id: int
    slug: str
    agent: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind} {self.text!r} in {self.slug}"


def choose_questions() -> list[Question]:
    """By rule, from the newest objects of each noun and project; fewer than QUESTIONS of a hub with little.

    A hub without objects is asked for the brief of each project.
    """
    projects = [(project, _asker(project)) for project in Project.objects.order_by("-pk")[:PROJECTS]]
    found = list(_chosen(projects))
    return found or [
        Question(BRIEF, project.pk, project.slug, agent, "What is there?") for project, agent in projects
    ]


def answers_to(questions: Iterable[Question]) -> list[str]:
    """The answers as texts; that of a question which is refused says so."""
    return [_answer(question) for question in questions]


def differences(questions: Sequence[Question], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """A sentence for each question with another answer than before."""
    for question, was, now in zip(questions, before, after, strict=True):
        if was != now:
            yield f"The answer to {question} is not the one before the backup."


def _chosen(projects: Sequence[tuple[Project, str]]) -> Iterator[Question]:
    """Each object is asked for in one way, and in the others as long as there are too few objects."""
    heads = list(islice(_heads(projects), QUESTIONS))
    asked = dict.fromkeys(
        Question(kind, project.pk, project.slug, agent, ref if kind == GET else text)
        for turn in range(len(_KINDS))
        for number, (project, agent, ref, text) in enumerate(heads)
        if (kind := _KINDS[(number + turn) % len(_KINDS)])
    )
    return islice(asked, QUESTIONS)


def _heads(projects: Sequence[tuple[Project, str]]) -> Iterator[tuple[Project, str, str, str]]:
    """Project, asker, ref and words of objects: the newest of each noun and project, then the next."""
    newest = {(project, noun.kind): _newest(noun, project) for project, _ in projects for noun in _openable()}
    for place in range(NEWEST):
        for project, agent in projects:
            for noun in _openable():
                if place < len(found := newest[project, noun.kind]):
                    ref, text = found[place]
                    yield project, agent, ref, text


def _openable() -> list[registry.Noun]:
    return [noun for noun in registry.searched_nouns() if noun.open]


def _newest(noun: registry.Noun, project: Project) -> list[tuple[str, str]]:
    rows = noun.model._base_manager.filter(project_id=project.pk)
    ids = list(rows.order_by("-pk").values_list("pk", flat=True)[:NEWEST])
    if not ids or noun.documents is None:
        return []
    documents = {each.object_id: each for each in noun.documents(project.pk, ids).now()}
    texts = ((documents[each].ref, _words(documents[each])) for each in ids if each in documents)
    return [(ref, text) for ref, text in texts if text]


def _words(document: Any) -> str:
    words = f"{document.title} {document.text}".split()
    return " ".join(words[:WORDS])[:CHARACTERS].strip()


def _asker(project: Project) -> str:
    return next(iter(known_agents(project)), NOBODY)


def _answer(question: Question) -> str:
    try:
        found = _ask(question)
    except CtxhubError as error:
        found = {"error": error.message}
    return json.dumps(found, ensure_ascii=False, sort_keys=True, default=str)


def _ask(question: Question) -> Any:
    if question.kind == BRIEF:
        project = Project.objects.get(pk=question.project_id)
        caller = Caller(project=project, agent=question.agent, scopes=frozenset({READ}))
        return brief(caller=caller, task=question.text).answer()
    if question.kind == SEARCH:
        return answer_search(question.project_id, question.text).answer()
    noun, name = registry.split_ref(question.text)
    assert noun.open is not None
    return noun.open(question.project_id, [name], True)
