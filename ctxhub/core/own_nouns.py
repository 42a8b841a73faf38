"""The nouns of core itself."""

from collections.abc import Callable

from ctxhub.core.models import Agent, Layer, Scope, Tag
from ctxhub.core.models.base import NamedRow
from ctxhub.core.nouns import Noun, register


def _counter(model: type[NamedRow]) -> Callable[[int], int]:
    return lambda project_id: model.objects.in_project(project_id).count()


for _kind, _model in (("agent", Agent), ("tag", Tag), ("scope", Scope), ("layer", Layer)):
    register(Noun(_kind, f"{_kind}s", _model, count=_counter(_model)))
