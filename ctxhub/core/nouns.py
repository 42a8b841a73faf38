"""Registers the nouns of core: agents, tags, scopes, layers, categories."""

from collections.abc import Callable

from ctxhub.core.events.selectors.stats import Stats
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.models import Agent, Category, Layer, Scope, Tag
from ctxhub.core.registry import Noun, register


def _counter(model: type[NamedRow]) -> Callable[[Stats], int]:
    return lambda stats: model.objects.in_project(stats.project_id).count()


register(Noun("category", "categories", Category))
for _kind, _model in (("agent", Agent), ("tag", Tag), ("scope", Scope), ("layer", Layer)):
    register(Noun(_kind, f"{_kind}s", _model, count=_counter(_model)))
