"""The command `doctor`: a line for each thing that was looked at, or JSON."""

from __future__ import annotations

import argparse
import json
import sys

from ctxhub_client.doctor import clients, hub, tree
from ctxhub_client.doctor.findings import PROBLEM
from ctxhub_client.install.program import Program
from ctxhub_client.paths import Project
from ctxhub_client.texts import printable
from ctxhub_client.version import version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.doctor.findings import Finding


def run_doctor(arguments: list[str]) -> int:
    """The exit code: 1 if there is a problem."""
    parser = argparse.ArgumentParser(
        prog="ctxhub doctor", description="Says what keeps the clients in this folder from the hub."
    )
    parser.add_argument("--json", action="store_true", help="check, state, text and fix of each finding")
    options = parser.parse_args(arguments)
    found = examine()
    sys.stdout.write((as_json(found) if options.json else as_text(found)) + "\n")
    return int(any(each.state == PROBLEM for each in found))


def examine() -> list[Finding]:
    project, program = Project(""), Program()
    asked = hub.Asked()
    return [
        *hub.program_findings(program),
        *hub.variable_findings(),
        *asked.findings(program),
        *clients.findings(project, asked, program),
        *tree.findings(project, program),
    ]


def as_json(found: list[Finding]) -> str:
    values = {
        "version": version(),
        "python": sys.version.split()[0],
        "problems": sum(each.state == PROBLEM for each in found),
        "findings": [vars(each) for each in found],
    }
    return json.dumps(values, indent=2, ensure_ascii=True)


def as_text(found: list[Finding]) -> str:
    lines = ["ctxhub {}, Python {}".format(version(), sys.version.split()[0]), ""]
    for each in found:
        lines.append("{:8} {:12} {}".format(each.state, each.check, printable(each.text)))
        if each.fix:
            lines.append("{:21} -> {}".format("", printable(each.fix)))
    return "\n".join(lines)
