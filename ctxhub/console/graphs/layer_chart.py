"""The bar chart of a project's layers: how many rows of each noun a layer has."""

import math
from collections.abc import Sequence

from ctxhub.console.filters import lists_filtered_by
from ctxhub.console.urls import in_project
from ctxhub.core.hub.overview import summarise_layers
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.text.plurals import singular


@frozen
class Bar:
    """The count of one noun in a layer; its length is in percent of the highest count of the chart."""

    noun: str
    count: int
    percent: int

    @property
    def label(self) -> str:
        return singular(self.noun) if self.count == 1 else self.noun


@frozen
class LayerBars:
    name: str
    url: str
    bars: Sequence[Bar]


def layer_chart(project: Project) -> list[LayerBars]:
    summary = summarise_layers(project.pk)
    [(list_url, _), *_] = lists_filtered_by("layer")
    nouns = list(summary.columns[1:])
    most = max([count for _, *counts in summary.rows for count in counts] + [1])
    return [
        LayerBars(
            layer,
            in_project(list_url, project, layer=layer),
            [
                Bar(noun, count, math.ceil(100 * count / most))
                for noun, count in zip(nouns, counts, strict=True)
            ],
        )
        for layer, *counts in summary.rows
    ]
