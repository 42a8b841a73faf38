"""The brief that an agent would get now: its rows, the tokens of each section, and its text."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.core.accounts.selectors.agents import known_agents
from ctxhub.core.admin.service_form import sentence
from ctxhub.core.events.mail import count_urgent
from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.models import Project
from ctxhub.core.text.parts import as_json
from ctxhub.core.text.token_count import count_tokens
from sessions.briefings.admin.forms import AGENTS, BRIEF_DEFAULTS, TEXT, BriefForm
from sessions.briefings.admin.rows import ShownRow, shown_rows
from sessions.briefings.rules.candidates import Candidate
from sessions.briefings.rules.text_form import section_text
from sessions.briefings.selectors.brief import Briefing, brief, section_of

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
