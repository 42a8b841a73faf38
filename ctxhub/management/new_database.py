"""Makes the tables of an empty database as the last migration leaves them, without the steps before."""

from collections.abc import Sequence
from typing import Any

from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState

from ctxhub.core.kit.migrations import MakeObjects

Plan = Sequence[tuple[Migration, bool]]


class Executor(MigrationExecutor):
    """Migrates an empty database at once, and any other as Django does.

    For each operation Django renders the changed model anew, and all that are related to it: by their
    project, all. `migrate` took 6.3 seconds so, and takes 2.2, nearly all of it its start. What the steps do
    with rows, an empty database does not need; what belongs to no model, `MakeObjects` makes.
    """

    def _migrate_all_forwards(
        self, state: ProjectState, plan: Plan, full_plan: Plan, fake: bool, fake_initial: bool
    ) -> ProjectState:
        is_whole = len(plan) == len(full_plan) and not (fake or fake_initial)
        if is_whole and self._is_empty():
            return self._make_all([migration for migration, _ in full_plan])
        migrated: ProjectState = super()._migrate_all_forwards(  # type: ignore[misc]
            state, plan, full_plan, fake, fake_initial
        )
        return migrated

    def _is_empty(self) -> bool:
        tables = self.connection.introspection.table_names(include_views=True)
        return set(tables) <= {self.recorder.Migration._meta.db_table}

    def _make_all(self, migrations: Sequence[Migration]) -> ProjectState:
        """All or nothing, in one transaction."""
        state = ProjectState(real_apps=self.loader.unmigrated_apps)  # Not rendered, so that it is once.
        for migration in migrations:
            migration.mutate_state(state, preserve=False)
        with self.connection.schema_editor(atomic=True) as editor:
            for app_label, name in state.models:
                model: Any = state.apps.get_model(app_label, name)
                if model._meta.can_migrate(self.connection):
                    editor.create_model(model)
            for migration in migrations:
                self._record(migration, state, editor)
        return state

    def _record(self, migration: Migration, state: ProjectState, editor: Any) -> None:
        self._tell("apply_start", migration)
        for operation in migration.operations:
            if isinstance(operation, MakeObjects):
                operation.database_forwards(migration.app_label, editor, state, state)
        self.record_migration(migration)  # type: ignore[arg-type, call-arg]
        self._tell("apply_success", migration)

    def _tell(self, action: str, migration: Migration) -> None:
        if self.progress_callback:
            self.progress_callback(action, migration, False)
