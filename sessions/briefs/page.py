"""The brief that an agent would get now: its rows, the tokens of each section, and its text."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django import forms
from django.utils import timezone
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.console import refs
from ctxhub.console.fields import LinesField, MomentInput
from ctxhub.console.service_form import sentence
from ctxhub.core.accounts.agents import ids_of_names, known_agents
from ctxhub.core.events.mail import count_urgent
from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.models import Project
from ctxhub.core.text.parts import as_json
from ctxhub.core.text.token_count import count_tokens
from sessions.briefs.brief import (
    DEFAULT_BUDGET,
    LEAST_BUDGET,
    MOST_BUDGET,
    Briefing,
    brief,
    section_of,
    section_text,
)
from sessions.briefs.rows import Candidate

Name = TypeVar("Name", bound=Hashable)


@frozen
class ShownRow:
    """`by_id`: of the agent, if one of this name is registered.

    `percent`: how well it matches the task, at most 100; `is_must`: it is packed before all others.
    """

    ref: str
    url: str
    text: str
    by: str
    by_id: int | None
    at: datetime
    why: str
    percent: int
    is_must: bool


def shown_rows(
    project_id: int, groups: Mapping[Name, Iterable[Candidate]]
) -> Mapping[Name, Sequence[ShownRow]]:
    """The rows of each group, in a fixed number of queries."""
    listed = {name: list(rows) for name, rows in groups.items()}
    urls = refs.pages_of(project_id, (one.ref for rows in listed.values() for one in rows))
    agents = ids_of_names(project_id, {one.by.casefold() for rows in listed.values() for one in rows})
    return {name: [_shown(one, urls, agents) for one in rows] for name, rows in listed.items()}


def _shown(one: Candidate, urls: Mapping[str, str], agents: Mapping[str, int]) -> ShownRow:
    return ShownRow(
        ref=one.ref,
        url=urls.get(one.ref, ""),
        text=one.text,
        by=one.by,
        by_id=agents.get(one.by.casefold()),
        at=datetime.fromisoformat(one.at),
        why=one.why,
        percent=min(round(100 * one.score), 100),
        is_must=one.is_must,
    )


TEXT, ANSWER = "text", "answer"
AGENTS = "agents"
"""The id of the list of names that the forms suggest."""


def _line(**attributes: Any) -> UnfoldAdminTextInputWidget:
    return UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", **attributes})


class BriefForm(forms.Form):
    agent = forms.CharField(widget=_line(list=AGENTS))
    task = forms.CharField(
        required=False,
        widget=_line(placeholder="Add rate limiting to shop/api/login.py"),
        help_text="What the agent is about to do, with its paths. Blank: what is new.",
    )
    budget_tokens = forms.IntegerField(
        label="Budget in tokens",
        min_value=LEAST_BUDGET,
        max_value=MOST_BUDGET,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    shape = forms.ChoiceField(
        label="In the form of",
        choices=((TEXT, "text (hooks)"), (ANSWER, "JSON (tool)")),
        widget=UnfoldAdminSelectWidget,
    )


class CheckForm(forms.Form):
    paths = LinesField(rows=3, help_text="One path or glob a line: shop/api/login.py, shop/api/**")
    intent = forms.CharField(
        required=False, widget=_line(), help_text="What is to be done there. Adds what matches it best."
    )
    agent = forms.CharField(
        required=False,
        widget=_line(list=AGENTS),
        help_text="Who asks: its own leases and changes stop nobody. Blank: somebody new.",
    )


class GivenForm(forms.Form):
    agent = forms.CharField(widget=_line(list=AGENTS))
    at = forms.DateTimeField(widget=MomentInput(attrs={"step": 1}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["at"].label = f"Until ({timezone.get_current_timezone_name()})"


BRIEF_DEFAULTS = {"budget_tokens": str(DEFAULT_BUDGET), "shape": TEXT}


LEFT_SHOWN = 10


@frozen
class ShownSection:
    """A section. `share`: its tokens in percent of the budget; `length`: of its bar, in percent.

    `left`: the best of the rows that found no room; `omitted`: how many these are in all.
    """

    name: str
    tokens: int
    share: int
    length: int
    rows: Sequence[ShownRow]
    left: Sequence[ShownRow]
    omitted: int

    @property
    def more_left(self) -> int:
        return self.omitted - len(self.left)


@frozen
class ShownBrief:
    """`answer`: the brief as a client gets it; `frame`: its tokens outside of all sections."""

    agent: str
    sections: Sequence[ShownSection]
    answer: str
    tokens: int
    budget: int
    frame: int
    omitted: int

    @property
    def percent(self) -> int:
        return self.tokens * 100 // self.budget

    @property
    def rows(self) -> int:
        return sum(len(section.rows) for section in self.sections)


def brief_context(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """The template context. `query`: the fields of BriefForm; without an agent the one last seen asks."""
    agents = known_agents(project)
    values = {"agent": agents[0] if agents else "", **BRIEF_DEFAULTS, **query}
    form = BriefForm(values) if agents or "agent" in query else BriefForm(initial=values)
    context = {"form": form, "suggestions": {AGENTS: agents}}
    if not form.is_valid():
        return context
    try:
        return {**context, "brief": _shown_brief(project, **form.cleaned_data)}
    except CtxhubError as error:
        return {**context, "problem": sentence(error)}


def _shown_brief(project: Project, *, agent: str, task: str, budget_tokens: int, shape: str) -> ShownBrief:
    is_text = shape == TEXT
    caller = Caller(project=project, agent=clean_agent(agent), scopes=frozenset({READ}))
    mail = 0 if is_text else count_urgent(caller)
    found = brief(caller=caller, task=task, budget_tokens=budget_tokens, mail=mail, is_text=is_text)
    answer = found.text() if is_text else as_json(found.answer())
    tokens = count_tokens(answer) if is_text else size(found.answer())
    costs = {name: _tokens_of(name, rows, is_text) for name, rows in found.rows().items()}
    return ShownBrief(
        agent=caller.agent,
        sections=_sections(project, found, costs),
        answer=answer,
        tokens=tokens,
        budget=found.budget,
        frame=max(tokens - sum(costs.values()), 0),
        omitted=sum(found.packed.omitted().values()),
    )


def _tokens_of(name: str, rows: Sequence[Candidate], is_text: bool) -> int:
    return count_tokens(section_text(name, rows)) if is_text else size(section_of(name, rows))


def _sections(project: Project, found: Briefing, costs: Mapping[str, int]) -> list[ShownSection]:
    """The sections that have rows, or left some out."""
    chosen, omitted = found.rows(), found.packed.omitted()
    groups: dict[tuple[str, bool], Sequence[Candidate]] = {}
    for name, candidates in found.candidates.items():
        groups[name, True] = chosen.get(name, ())
        groups[name, False] = _left_out(candidates, groups[name, True])
    rows = shown_rows(project.pk, groups)
    longest = max([*costs.values(), 1])
    return [
        ShownSection(
            name=name,
            tokens=costs.get(name, 0),
            share=round(100 * costs.get(name, 0) / found.budget),
            length=round(100 * costs.get(name, 0) / longest),
            rows=rows[name, True],
            left=rows[name, False],
            omitted=omitted.get(name, 0),
        )
        for name in found.packed.names
        if chosen.get(name) or omitted.get(name)
    ]


def _left_out(rows: Sequence[Candidate], chosen: Sequence[Candidate]) -> list[Candidate]:
    """The best rows that were not chosen."""
    places = {one.place for one in chosen}
    return [one for one in rows if one.place not in places][:LEFT_SHOWN]
