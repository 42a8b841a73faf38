"""Finds or creates the rows of names (tags, scopes, categories, layers, agents), in batches."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Max

from ctxhub.core.events.log import Change, record
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.models import Agent, Category, Layer, Scope, Tag
from ctxhub.core.vocabulary.names import agent_registered
from ctxhub.importers.shared.batching import ROWS_PER_BATCH
from ctxhub.importers.shared.report import Report

# The default layers of a project, and those that later versions of sqlew added.
KNOWN_LAYERS = (
    *("presentation", "business", "data", "infrastructure", "cross-cutting"),
    *("documentation", "planning", "coordination", "review"),
)
WORDS: Mapping[str, type[NamedRow]] = {"tags": Tag, "scopes": Scope, "categories": Category}


@dataclass(slots=True)
class Wanted:
    """Names that the imported rows need. `agents`: spelling and last activity by case-folded name."""

    words: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in WORDS})
    layers: list[str] = field(default_factory=list)
    agents: dict[str, tuple[str, datetime]] = field(default_factory=dict)

    def note(self, agent: str | None, at: datetime, layer: str | None = None) -> None:
        if agent:
            name, last = self.agents.get(agent.casefold(), (agent, at))
            self.agents[agent.casefold()] = (name, max(last, at))
        if layer:
            self.layers.append(layer)


class Vocabulary:
    """Ids and spellings of stored names by case-folded name."""

    def __init__(self, caller: Caller, report: Report) -> None:
        self._caller = caller
        self._report = report
        models: dict[str, type[NamedRow]] = {**WORDS, "layers": Layer, "agents": Agent}
        self._rows = {kind: self._stored(model) for kind, model in models.items()}

    def word_id(self, kind: str, name: str) -> int:
        return self._rows[kind][name.casefold()][0]

    def spelled(self, kind: str, name: str) -> str:
        """The stored spelling of a name."""
        return self._rows[kind][name.casefold()][1]

    def agent_id(self, name: str | None) -> int | None:
        return self.word_id("agents", name) if name else None

    def layer_id(self, name: str | None) -> int | None:
        """The layer's id; None if it is neither stored nor in KNOWN_LAYERS."""
        return self.word_id("layers", name) if name and name.casefold() in self._rows["layers"] else None

    def add(self, wanted: Wanted, at: datetime, *, dry_run: bool) -> None:
        """Create missing names and count them; a dry run only counts."""
        for kind, model in WORDS.items():
            new = self._missing(kind, wanted.words[kind])
            if new and not dry_run:
                self._make(kind, model, new)
        self._add_layers(wanted.layers, at, dry_run=dry_run)
        self._add_agents(wanted.agents, at, dry_run=dry_run)

    def _missing(self, kind: str, names: Iterable[str]) -> list[str]:
        """Names not stored yet, each in its first spelling. Counts them in the report."""
        spelled: dict[str, str] = {}
        for name in names:
            spelled.setdefault(name.casefold(), name)
        new = [name for folded, name in spelled.items() if folded not in self._rows[kind]]
        self._report.took(kind, len(new))
        self._report.found(kind, len(spelled) - len(new))
        return new

    def _make(self, kind: str, model: type[Any], names: Iterable[str]) -> None:
        project = self._caller.project
        model.unscoped.bulk_create(
            (model(project=project, name=name, folded=name.casefold()) for name in names),
            batch_size=ROWS_PER_BATCH,
        )
        self._rows[kind] = self._stored(model)

    def _add_layers(self, names: Iterable[str], at: datetime, *, dry_run: bool) -> None:
        used = dict.fromkeys(names)
        for name in used:
            if not self._is_known_layer(name):
                self._report.left("layers", name, "not here; add it first, and what lies in it keeps it")
        new = self._missing("layers", [name for name in used if self._is_known_layer(name)])
        if not new or dry_run:
            return
        project = self._caller.project
        last = Layer.objects.in_project(project).aggregate(last=Max("position"))["last"] or 0
        Layer.unscoped.bulk_create(
            Layer(project=project, name=name, folded=name.casefold(), position=last + offset)
            for offset, name in enumerate(new, start=1)
        )
        self._rows["layers"] = self._stored(Layer)
        changes = [Change("layer", "created", f"layer:{name}") for name in new]
        record(project_id=project.pk, agent_id=None, changes=changes, at=at)

    def _is_known_layer(self, name: str) -> bool:
        return name.casefold() in self._rows["layers"] or name.casefold() in KNOWN_LAYERS

    def _add_agents(self, agents: Mapping[str, tuple[str, datetime]], at: datetime, *, dry_run: bool) -> None:
        new = self._missing("agents", [name for name, _ in agents.values()])
        if dry_run:
            return
        self._make("agents", Agent, new)
        unseen = list(
            Agent.objects.in_project(self._caller.project).filter(folded__in=agents, last_seen_at=None)
        )
        for agent in unseen:
            agent.last_seen_at = agents[agent.folded][1]
        Agent.unscoped.bulk_update(unseen, ["last_seen_at"], batch_size=ROWS_PER_BATCH)
        for name in new:
            agent_registered.send(
                None, project_id=self._caller.project_id, agent_id=self.agent_id(name), name=name, at=at
            )

    def _stored(self, model: type[Any]) -> dict[str, tuple[int, str]]:
        rows = model.objects.in_project(self._caller.project).values_list("folded", "pk", "name")
        return {folded: (row_id, name) for folded, row_id, name in rows}
