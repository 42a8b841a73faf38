"""Operations of migrations: many tables at once, and what a new database needs beside tables."""

from collections.abc import Sequence
from typing import Any

from django.db.migrations import CreateModel, RunPython
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class CreateModels(Operation):
    """Creates tables that refer to one another, in whatever order.

    After each `CreateModel` Django renders anew all models that are related to it: by their project, all.
    """

    def __init__(self, models: Sequence[CreateModel]) -> None:
        self.models = models

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        state.__dict__.pop("apps", None)  # a cached property: the rendered models
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create models {', '.join(model.name for model in self.models)}"


class MakeObjects(RunPython):
    """Makes what belongs to no model, such as a trigger: the one kind of code that an empty database runs.

    It finds the tables there as the last migration leaves them.
    """
