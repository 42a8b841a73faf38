"""The examples of alerts and of a dashboard ask only for metrics and labels that there are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Metric

from ctxhub.metrics import stored
from ctxhub.metrics.counting import REGISTRY
from tests.hub import LiveHub, McpClient

FOLDER = Path(__file__).parents[2] / "docs" / "watching"
ADDED = {"le", "job", "instance"}  # By histograms, and by Prometheus.
pytestmark = pytest.mark.one_engine


def expressions() -> Iterator[str]:
    alerts = yaml.safe_load((FOLDER / "alerts.yml").read_text())
    yield from (rule["expr"] for group in alerts["groups"] for rule in group["rules"])
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    yield from (target["expr"] for panel in dashboard["panels"] for target in panel["targets"])


@pytest.fixture
def labels_of_metrics(hub: LiveHub, ada_mcp: McpClient) -> dict[str, set[str]]:
    """The labels of each sample that there is after a call."""
    ada_mcp.call("decision", "list")
    found: list[Metric] = [*REGISTRY.collect(), *stored.Stored().collect()]
    return {sample.name: set(sample.labels) for metric in found for sample in metric.samples}


def asked() -> Iterator[tuple[str, set[str]]]:
    """Each name of a metric in the examples, with the labels that it is selected by."""
    for expression in expressions():
        for name, selected in re.findall(r"\b(ctxhub_\w+)(?:\{([^}]*)\})?", expression):
            yield name, set(re.findall(r"(\w+)\s*[=!]", re.sub(r'"[^"]*"', "", selected)))


def test_every_metric_and_label_in_the_examples_exists(labels_of_metrics: dict[str, set[str]]) -> None:
    wrong = {name for name, labels in asked() if not labels <= labels_of_metrics.get(name, set()) | ADDED}
    unknown = {name for name, _ in asked()} - labels_of_metrics.keys()
    assert (unknown, wrong) == (set(), set())


def test_grouping_is_by_labels_that_exist(labels_of_metrics: dict[str, set[str]]) -> None:
    every = set.union(*labels_of_metrics.values()) | ADDED
    named = {
        label
        for expression in expressions()
        for group in re.findall(r"\bby \(([^)]*)\)", expression)
        for label in re.split(r",\s*", group)
    }
    assert named <= every


def test_the_dashboard_shows_every_metric() -> None:
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name, _ in asked()}
    counted = {metric.name for metric in REGISTRY.collect()}
    assert {name.removesuffix("_total") for name in families} == counted | {stored.BYTES, stored.ROWS}


def test_every_outcome_and_face_in_the_examples_exists() -> None:
    outcomes = {word for text in expressions() for word in re.findall(r'outcome="(\w+)"', text)}
    assert outcomes == {"failed", "refused"}
    faces = {
        word
        for text in expressions()
        for said in re.findall(r'face=~?"([^"]+)"', text)
        for word in said.split("|")
    }
    assert faces <= {"mcp", "rest", "admin", "probe"}


def test_an_alert_says_what_is_wrong_and_what_to_do() -> None:
    alerts: Any = yaml.safe_load((FOLDER / "alerts.yml").read_text())
    for rule in alerts["groups"][0]["rules"]:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert set(rule["annotations"]) == {"summary", "description"}


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken
        assert at["x"] + at["w"] <= 24
        taken |= cells
