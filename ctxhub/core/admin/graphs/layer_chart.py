"""The bar chart of a project's layers: how many rows of each noun a layer has."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from ctxhub.core.admin import refs
from ctxhub.core.admin.urls import in_project
from ctxhub.core.hub.selectors.hub import summarise_layers
from ctxhub.core.models import Project
from ctxhub.core.text.plurals import singular


@dataclass(frozen=True, slots=True)
class Bar:
    """The count of one noun in a layer; its length is in percent of the highest count of the noun."""

    noun: str
    count: int
    percent: int

    @property
    def label(self) -> str:
        return singular(self.noun) if self.count == 1 else self.noun


@dataclass(frozen=True, slots=True)
class LayerBars:
    name: str
    url: str
    bars: Sequence[Bar]


def layer_chart(project: Project) -> list[LayerBars]:
    summary = summarise_layers(project.pk)
    nouns = list(summary.columns[1:])
    most = [max([row[n + 1] for row in summary.rows] + [1]) for n in range(len(nouns))]
    return [
        LayerBars(
            layer,
            in_project(reverse(refs.vocabulary_lists[0]), project, layer=layer),
            [
                Bar(noun, count, round(100 * count / top))
                for noun, count, top in zip(nouns, counts, most, strict=True)
            ],
        )
        for layer, *counts in summary.rows
    ]
