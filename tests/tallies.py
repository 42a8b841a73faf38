"""The counters of a project, which are updated with every write, and the same counted from the rows."""

from collections import Counter

from django.db.models import Model

from ctxhub.core.models import Project, Tally
from memory.models import Constraint, Context, Decision, Memory, Scratchpad, Snapshot, Workflow
from messaging.models import Message
from sessions.models import AgentSession
from tracking.models import FileChange, Resource

Stats = dict[tuple[str, int, int], int]

COUNTED: dict[str, tuple[type[Model], bool, bool]] = {
    "decision": (Decision, True, True),
    "constraint": (Constraint, True, True),
    "context": (Context, False, False),
    "memory": (Memory, False, False),
    "workflow": (Workflow, False, False),
    "scratchpad": (Scratchpad, False, False),
    "message": (Message, False, False),
    "change": (FileChange, True, False),
    "resource": (Resource, False, False),
    "snapshot": (Snapshot, False, False),
    "session": (AgentSession, False, False),
}
"""The model of each noun with a counter, and whether it has a layer and a status."""


def tallied(project: Project) -> Stats:
    rows = Tally.objects.in_project(project).values_list("noun", "layer", "status", "count")
    return {(noun, layer, status): count for noun, layer, status, count in rows if count}


def counted(project: Project) -> Stats:
    found: Counter[tuple[str, int, int]] = Counter()
    for noun, (model, has_layer, has_status) in COUNTED.items():
        for row in model._base_manager.filter(project=project):
            if getattr(row, "is_implicit", False):
                continue
            layer = getattr(row, "layer_id", None) if has_layer else None
            found[noun, layer or 0, getattr(row, "status", 0) if has_status else 0] += 1
    return dict(found)
