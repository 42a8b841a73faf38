"""The tables of memory, as the migrations made them that this one replaced."""

from typing import Any

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

from ctxhub.core.kit.migrations import CreateModels, MakeObjects


def add_index(apps: Any, schema_editor: Any) -> None:
    """Keys by their beginning, whatever the database's collation: PostgreSQL needs an index of its own for it.

    SQLite compares texts byte by byte, so that of the unique constraint does.
    """
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE INDEX memory_decision_by_prefix ON memory_decision (project_id, key varchar_pattern_ops)"
        )


def drop_index(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX memory_decision_by_prefix")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('core', '0001_squashed_0010_sign_in_failures'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Decision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('value', models.TextField(blank=True)),
                    ('value_type', models.PositiveSmallIntegerField(choices=[(1, 'text'), (2, 'integer'), (3, 'float')], default=1)),
                    ('number', models.FloatField(blank=True, editable=False, null=True)),
                    ('key', models.CharField(max_length=200)),
                    ('version', models.CharField(default='1.0.0', max_length=50)),
                    ('version_order', models.CharField(default='', editable=False, max_length=600)),
                    ('status', models.PositiveSmallIntegerField(choices=[(1, 'active'), (2, 'deprecated'), (3, 'draft')], default=1)),
                    ('paths', models.JSONField(blank=True, default=list, help_text='Globs of the files this decision bears on.')),
                    ('rationale', models.TextField(blank=True)),
                    ('alternatives', models.JSONField(blank=True, default=list, help_text='Texts, or {option, why_not}.')),
                    ('tradeoffs', models.JSONField(blank=True, default=dict, help_text='{pros: [...], cons: [...]}.')),
                    ('metadata', models.JSONField(blank=True, default=dict)),
                    ('reason', models.TextField(blank=True, help_text='Why it was deprecated.')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='decisions', to='core.agent')),
                    ('layer', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='decisions', to='core.layer')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('superseded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='supersedes', to='memory.decision')),
                    ('scopes', models.ManyToManyField(blank=True, related_name='decisions', through='memory.DecisionScope', to='core.scope')),
                    ('tags', models.ManyToManyField(blank=True, related_name='decisions', through='memory.DecisionTag', to='core.tag')),
                ],
                options={
                    'ordering': ('-updated_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', '-updated_at', '-id'], name='memory_decision_newest'),
                        models.Index(fields=['project', 'layer', '-updated_at', '-id'], name='memory_decision_by_layer'),
                        models.Index(fields=['project', 'agent', '-updated_at', '-id'], name='memory_decision_by_agent'),
                        models.Index(fields=['project', 'status', '-updated_at', '-id'], name='memory_decision_by_status'),
                        models.Index(fields=['project', 'version_order', 'id'], name='memory_decision_by_version'),
                    ],
                    'constraints': [models.UniqueConstraint(fields=('project', 'key'), name='memory_one_decision_per_key', violation_error_message='A decision with this key exists.')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='DecisionScope',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('updated_at', models.DateTimeField()),
                    ('decision', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='scope_links', to='memory.decision')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('scope', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='decision_links', to='core.scope')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['scope', '-updated_at', '-decision'], name='memory_decisionscope_newest')],
                    'constraints': [models.UniqueConstraint(fields=('decision', 'scope'), name='memory_one_scope_per_decision')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='DecisionTag',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('updated_at', models.DateTimeField()),
                    ('decision', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tag_links', to='memory.decision')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('tag', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='decision_links', to='core.tag')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['tag', '-updated_at', '-decision'], name='memory_decisiontag_newest')],
                    'constraints': [models.UniqueConstraint(fields=('decision', 'tag'), name='memory_one_tag_per_decision')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='DecisionRevision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('value', models.TextField(blank=True)),
                    ('value_type', models.PositiveSmallIntegerField(choices=[(1, 'text'), (2, 'integer'), (3, 'float')], default=1)),
                    ('number', models.FloatField(blank=True, editable=False, null=True)),
                    ('version', models.CharField(max_length=50)),
                    ('status', models.PositiveSmallIntegerField(choices=[(1, 'active'), (2, 'deprecated'), (3, 'draft')])),
                    ('at', models.DateTimeField(help_text='When this version was written.')),
                    ('data', models.JSONField(default=dict)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='core.agent')),
                    ('decision', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='memory.decision')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'ordering': ('-id',),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['decision', '-id'], name='memory_revision_newest')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Constraint',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.TextField()),
                    ('digest', models.CharField(editable=False, max_length=64)),
                    ('rank', models.CharField(default='', editable=False, max_length=301)),
                    ('priority', models.PositiveSmallIntegerField(choices=[(1, 'low'), (2, 'medium'), (3, 'high'), (4, 'critical')], default=2)),
                    ('paths', models.JSONField(blank=True, default=list, help_text='Globs of the files it bears on.')),
                    ('reason', models.TextField(blank=True, help_text='Why it must hold.')),
                    ('status', models.PositiveSmallIntegerField(choices=[(1, 'active'), (2, 'inactive')], default=1)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='constraints', to='core.agent')),
                    ('category', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='constraints', to='core.category')),
                    ('layer', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='constraints', to='core.layer')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('scopes', models.ManyToManyField(blank=True, related_name='constraints', through='memory.ConstraintScope', to='core.scope')),
                    ('tags', models.ManyToManyField(blank=True, related_name='constraints', through='memory.ConstraintTag', to='core.tag')),
                ],
                options={
                    'ordering': ('rank', '-created_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', 'rank', '-created_at', '-id'], name='memory_constraint_by_rank'),
                        models.Index(fields=['project', 'status', 'rank', '-created_at', '-id'], name='memory_constraint_by_status'),
                        models.Index(fields=['project', 'layer', 'rank', '-created_at', '-id'], name='memory_constraint_by_layer'),
                        models.Index(fields=['project', 'agent', 'rank', '-created_at', '-id'], name='memory_constraint_by_agent'),
                    ],
                    'constraints': [models.UniqueConstraint(fields=('category', 'digest', 'project'), name='memory_one_constraint_per_text', violation_error_message='This category has a constraint of this text.')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='ConstraintScope',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rank', models.CharField(default='', editable=False, max_length=301)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('constraint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='scope_links', to='memory.constraint')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('scope', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='constraint_links', to='core.scope')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['scope', 'rank', '-created_at', '-constraint'], name='memory_constraintscope_by_rank')],
                    'constraints': [models.UniqueConstraint(fields=('constraint', 'scope'), name='memory_one_scope_per_constraint')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='ConstraintTag',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rank', models.CharField(default='', editable=False, max_length=301)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('constraint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tag_links', to='memory.constraint')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('tag', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='constraint_links', to='core.tag')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['tag', 'rank', '-created_at', '-constraint'], name='memory_constrainttag_by_rank')],
                    'constraints': [models.UniqueConstraint(fields=('constraint', 'tag'), name='memory_one_tag_per_constraint')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='DecisionTemplate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('folded', models.CharField(editable=False, max_length=600)),
                    ('defaults', models.JSONField(blank=True, default=dict, help_text='Arguments of `set`, by their names.')),
                    ('require', models.JSONField(blank=True, default=list, help_text='What has to be said: arguments of `set`, or names in metadata.')),
                    ('patterns', models.JSONField(blank=True, default=dict, help_text='A regular expression for each field that has to match one.')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'verbose_name': 'template',
                    'ordering': ('folded',),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'folded'), name='memory_one_template_per_name', violation_error_message='A template with this name exists.')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Workflow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(blank=True, max_length=200)),
                    ('metadata', models.JSONField(blank=True, default=dict, help_text='{"keep": "never"} spares it for ever.')),
                    ('is_active', models.BooleanField(default=True, help_text='The pads of a closed one can only be read.')),
                    ('is_kept', models.BooleanField(default=False, editable=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='workflows', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'ordering': ('-updated_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', '-updated_at', '-id'], name='memory_workflow_by_time'),
                        models.Index(fields=['project', 'is_active', '-updated_at', '-id'], name='memory_workflow_by_active'),
                        models.Index(fields=['project', 'is_kept', 'updated_at'], name='memory_workflow_by_rest'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Scratchpad',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('content', models.TextField(blank=True)),
                    ('length', models.PositiveIntegerField(default=0, editable=False)),
                    ('size', models.PositiveIntegerField(default=0, editable=False)),
                    ('revision', models.PositiveIntegerField(default=1, editable=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='scratchpads', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('workflow', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='scratchpads', to='memory.workflow')),
                ],
                options={
                    'ordering': ('workflow', 'id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['workflow', 'id'], name='memory_scratchpad_by_workflow'),
                        models.Index(fields=['project', '-updated_at', '-id'], name='memory_scratchpad_by_time'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='ScratchpadRevision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('change', models.PositiveSmallIntegerField(choices=[(1, 'created'), (2, 'appended'), (3, 'replaced'), (4, 'inserted'), (5, 'lines_replaced'), (6, 'section_extended'), (7, 'restored')])),
                    ('length', models.PositiveIntegerField()),
                    ('content', models.TextField(null=True)),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('scratchpad', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='memory.scratchpad')),
                ],
                options={
                    'ordering': ('scratchpad', '-number'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('scratchpad', 'number'), name='memory_one_state_per_number')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Context',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('folded', models.CharField(editable=False, max_length=600)),
                    ('description', models.TextField(blank=True)),
                    ('stack', models.CharField(blank=True, help_text='What it is about: django, react19.', max_length=100)),
                    ('metadata', models.JSONField(blank=True, default=dict)),
                    ('memory_count', models.PositiveIntegerField(default=0, editable=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('changed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='contexts', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('tags', models.ManyToManyField(blank=True, related_name='contexts', through='memory.ContextTag', to='core.tag')),
                ],
                options={
                    'ordering': ('-updated_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['project', '-updated_at', '-id'], name='memory_context_by_time')],
                    'constraints': [models.UniqueConstraint(fields=('project', 'folded'), name='memory_one_context_per_name', violation_error_message='A context with this name exists.')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='ContextTag',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('context', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tag_links', to='memory.context')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('tag', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='context_links', to='core.tag')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('context', 'tag'), name='memory_one_tag_per_context')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Memory',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('title', models.CharField(max_length=500)),
                    ('content', models.TextField()),
                    ('digest', models.CharField(blank=True, editable=False, max_length=100)),
                    ('tokens', models.PositiveIntegerField(default=0, editable=False)),
                    ('type', models.PositiveSmallIntegerField(choices=[(1, 'note'), (2, 'conversation'), (3, 'snippet'), (4, 'reference'), (5, 'task'), (6, 'idea')], default=1)),
                    ('difficulty', models.PositiveSmallIntegerField(blank=True, choices=[(1, 'easy'), (2, 'normal'), (3, 'hard')], null=True)),
                    ('stack', models.CharField(blank=True, help_text='What it is about: django, react19.', max_length=100)),
                    ('folded_stack', models.CharField(blank=True, editable=False, max_length=300)),
                    ('paths', models.JSONField(blank=True, default=list, help_text='Globs of the files it bears on.')),
                    ('metadata', models.JSONField(blank=True, default=dict)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='memories', to='core.agent')),
                    ('context', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='memories', to='memory.context')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('tags', models.ManyToManyField(blank=True, related_name='memories', through='memory.MemoryTag', to='core.tag')),
                    ('revision', models.PositiveIntegerField(default=1, editable=False)),
                ],
                options={
                    'verbose_name_plural': 'memories',
                    'ordering': ('-updated_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', '-updated_at', '-id'], name='memory_memory_by_time'),
                        models.Index(fields=['context', '-updated_at', '-id'], name='memory_memory_by_context'),
                        models.Index(fields=['project', 'type', '-updated_at', '-id'], name='memory_memory_by_type'),
                        models.Index(fields=['project', 'folded_stack', '-updated_at', '-id'], name='memory_memory_by_stack'),
                        models.Index(condition=models.Q(('difficulty__isnull', False)), fields=['project', 'difficulty', '-updated_at', '-id'], name='memory_memory_by_difficulty'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='MemoryTag',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('memory', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tag_links', to='memory.memory')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('tag', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='memory_links', to='core.tag')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['tag', '-updated_at', '-memory'], name='memory_memorytag_by_time')],
                    'constraints': [models.UniqueConstraint(fields=('memory', 'tag'), name='memory_one_tag_per_memory')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Relationship',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('source_kind', models.CharField(max_length=20)),
                    ('source_id', models.PositiveBigIntegerField()),
                    ('target_kind', models.CharField(max_length=20)),
                    ('target_id', models.PositiveBigIntegerField()),
                    ('relation', models.PositiveSmallIntegerField(choices=[(1, 'related'), (2, 'includes'), (3, 'references'), (4, 'depends_on'), (5, 'blocks')], default=1)),
                    ('strength', models.PositiveSmallIntegerField(default=50, help_text='0 to 100.')),
                    ('is_found', models.BooleanField(default=False, editable=False, help_text='Suggested, not said.')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'ordering': ('-updated_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['project', 'target_kind', 'target_id'], name='memory_relationship_by_target')],
                    'constraints': [
                        models.UniqueConstraint(fields=('project', 'source_kind', 'source_id', 'target_kind', 'target_id', 'relation'), name='memory_one_relation_of_two', violation_error_message='These two are related so already.'),
                        models.CheckConstraint(condition=models.Q(('strength__lte', 100)), name='memory_strength_is_a_percentage'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Snapshot',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('summary', models.TextField()),
                    ('content', models.TextField()),
                    ('tokens', models.PositiveIntegerField(default=0, editable=False)),
                    ('action_type', models.PositiveSmallIntegerField(choices=[(1, 'conversation'), (2, 'decision'), (3, 'file_edit'), (4, 'tool_use'), (5, 'research')], default=1)),
                    ('rationale', models.TextField(blank=True)),
                    ('source', models.CharField(default='unknown', max_length=100)),
                    ('metadata', models.JSONField(blank=True, default=dict)),
                    ('session_id', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='session')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('tier', models.PositiveSmallIntegerField(choices=[(1, 'active'), (2, 'recent'), (3, 'archived'), (4, 'expired')], default=1, editable=False)),
                    ('access_count', models.PositiveIntegerField(default=0, editable=False)),
                    ('last_accessed', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('touched_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('prediction_score', models.FloatField(blank=True, editable=False, null=True)),
                    ('temporal', models.FloatField(blank=True, editable=False, null=True)),
                    ('causal', models.FloatField(blank=True, editable=False, null=True)),
                    ('frequency', models.FloatField(blank=True, editable=False, null=True)),
                    ('reasons', models.JSONField(blank=True, default=list, editable=False)),
                    ('predicted_next', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('predicted_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='snapshots', to='core.agent')),
                    ('last_accessed_by', models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='core.agent')),
                    ('caused_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='effects', to='memory.snapshot')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('dependencies', models.ManyToManyField(blank=True, related_name='dependents', through='memory.SnapshotDependency', to='memory.snapshot')),
                    ('tags', models.ManyToManyField(blank=True, related_name='snapshots', through='memory.SnapshotTag', to='core.tag')),
                ],
                options={
                    'ordering': ('-created_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', '-created_at', '-id'], name='memory_snapshot_by_time'),
                        models.Index(fields=['project', 'action_type', '-created_at', '-id', 'caused_by'], name='memory_snapshot_by_action'),
                        models.Index(fields=['project', 'agent', '-created_at', '-id'], name='memory_snapshot_by_agent'),
                        models.Index(fields=['project', 'touched_at', 'id'], name='memory_snapshot_by_touch'),
                        models.Index(fields=['project', 'tier', 'touched_at'], name='memory_snapshot_by_tier'),
                        models.Index(condition=models.Q(('caused_by__isnull', False)), fields=['caused_by', 'id'], name='memory_snapshot_effects'),
                        models.Index(condition=models.Q(('prediction_score__isnull', False)), fields=['project', '-prediction_score', '-id', 'reasons'], name='memory_snapshot_by_score'),
                        models.Index(fields=['project', 'predicted_at', 'id'], name='memory_snapshot_predicted'),
                        models.Index(condition=models.Q(('session_id__isnull', False)), fields=['project', 'session_id'], name='memory_snapshot_of_session'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='SnapshotDependency',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dependency', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='dependent_links', to='memory.snapshot')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('snapshot', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='dependency_links', to='memory.snapshot')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['dependency', 'snapshot'], name='memory_dependency_effects')],
                    'constraints': [models.UniqueConstraint(fields=('snapshot', 'dependency'), name='memory_one_dependency_of_each')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='SnapshotTag',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('snapshot', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tag_links', to='memory.snapshot')),
                    ('tag', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='snapshot_links', to='core.tag')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['tag', '-created_at', '-snapshot'], name='memory_snapshottag_by_time')],
                    'constraints': [models.UniqueConstraint(fields=('snapshot', 'tag'), name='memory_one_tag_per_snapshot')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='PredictionWeights',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('temporal', models.FloatField()),
                    ('causal', models.FloatField()),
                    ('frequency', models.FloatField()),
                    ('samples', models.PositiveIntegerField()),
                    ('brier', models.FloatField()),
                    ('baseline_brier', models.FloatField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'verbose_name': 'prediction weights',
                    'verbose_name_plural': 'prediction weights',
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project',), name='memory_weights_of_project')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='PredictionOutcome',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('score', models.FloatField()),
                    ('temporal', models.FloatField()),
                    ('causal', models.FloatField()),
                    ('frequency', models.FloatField()),
                    ('hit', models.BooleanField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('snapshot', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='outcomes', to='memory.snapshot')),
                ],
                options={
                    'ordering': ('-created_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', 'created_at', 'id'], name='memory_outcome_by_time'),
                        models.Index(condition=models.Q(('hit__isnull', True)), fields=['project', 'created_at'], name='memory_outcome_open'),
                        models.Index(fields=['snapshot', 'created_at'], name='memory_outcome_of_snapshot'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='MemoryRevision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('title', models.CharField(max_length=500, null=True)),
                    ('content', models.TextField(null=True)),
                    ('tokens', models.PositiveIntegerField()),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='core.agent')),
                    ('memory', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='memory.memory')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'ordering': ('memory', '-number'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('memory', 'number'), name='memory_one_revision_per_number')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
        ]),
        MakeObjects(add_index, drop_index),
    ]
