"""The bars of the layers share one scale."""

import pytest

from ctxhub.console.graphs.layer_chart import layer_chart
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision

pytestmark = pytest.mark.one_engine


def test_twice_as_many_rows_are_twice_as_long(apollo: Project, ada: Caller) -> None:
    for number in range(4):
        set_decision(caller=ada, key=f"key/{number}", value="1", layer="data")
    for number in range(2):
        add_constraint(caller=ada, category="security", text=f"Rule {number}.", layer="business")
    lengths = {(layer.name, bar.noun): bar.percent for layer in layer_chart(apollo) for bar in layer.bars}
    assert lengths["data", "decisions"] == 100
    assert lengths["business", "constraints"] == 50
    assert lengths["business", "decisions"] == 0
