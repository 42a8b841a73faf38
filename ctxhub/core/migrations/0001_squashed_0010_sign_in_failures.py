"""The tables of core, as the migrations made them that this one replaced."""

from typing import Any

import django.db.models.deletion
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import ctxhub.core.kit.models
import ctxhub.core.search.models
from ctxhub.core.kit.migrations import CreateModels, MakeObjects
from ctxhub.core.search import schema

# As it was until 0011.
OLD = """INSERT INTO core_searchfts(core_searchfts, rowid, words, scope)
    VALUES ('delete', old.id, old.words, old.scope);"""
NEW = "INSERT INTO core_searchfts(rowid, words, scope) VALUES (new.id, new.words, new.scope);"
SQLITE = (
    """CREATE VIRTUAL TABLE IF NOT EXISTS core_searchfts USING fts5(
        words, scope, content='core_searchtext', content_rowid='id', tokenize='ascii')""",
    f"CREATE TRIGGER IF NOT EXISTS core_searchfts_insert AFTER INSERT ON core_searchtext BEGIN {NEW} END",
    f"CREATE TRIGGER IF NOT EXISTS core_searchfts_delete AFTER DELETE ON core_searchtext BEGIN {OLD} END",
    f"""CREATE TRIGGER IF NOT EXISTS core_searchfts_update AFTER UPDATE ON core_searchtext
        WHEN old.words IS NOT new.words OR old.scope IS NOT new.scope OR old.id IS NOT new.id
        BEGIN {OLD} {NEW} END""",
)
BUILD = {"sqlite": SQLITE, "postgresql": schema.POSTGRESQL}
UNDO = {"sqlite": schema.SQLITE_UNDO, "postgresql": schema.POSTGRESQL_UNDO}


def build(apps: Any, schema_editor: Any) -> None:
    _run(schema_editor, BUILD)


def undo(apps: Any, schema_editor: Any) -> None:
    _run(schema_editor, UNDO)


def _run(schema_editor: Any, statements: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        for statement in statements[schema_editor.connection.vendor]:
            cursor.execute(statement)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Project',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('slug', models.SlugField(max_length=100, unique=True)),
                    ('name', models.CharField(max_length=200)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('config', models.JSONField(blank=True, default=dict, editable=False, help_text='What differs from the defaults.')),
                ],
                options={
                    'ordering': ('slug',),
                },
            ),
            migrations.CreateModel(
                name='Agent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('folded', models.CharField(editable=False, max_length=300)),
                    ('kind', models.PositiveSmallIntegerField(choices=[(1, 'agent'), (2, 'human')], default=1)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('last_seen_at', models.DateTimeField(blank=True, null=True)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['project', '-last_seen_at'], name='core_agent_last_seen')],
                    'constraints': [models.UniqueConstraint(fields=('project', 'folded'), name='core_one_agent_per_name')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='AccessToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                    ('start', models.CharField(editable=False, help_text='The first characters, to tell tokens apart.', max_length=12)),
                    ('scopes', models.JSONField(default=list, help_text='Any of read, write, admin.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('created_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('agent', models.ForeignKey(blank=True, help_text='Pinned to this agent; left empty, the token may speak for any agent of the project.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='access_tokens', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['project', '-created_at'], name='core_token_newest')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Scope',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('folded', models.CharField(editable=False, max_length=300)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'folded'), name='core_one_scope_per_name')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='StoredAnswer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('agent', models.CharField(help_text="The agent's name, case-folded.", max_length=300)),
                    ('request_id', models.CharField(max_length=200)),
                    ('answer', models.JSONField()),
                    ('created_at', models.DateTimeField()),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('digest', models.CharField(db_default='', help_text='Of the operation and its arguments; empty: unknown.', max_length=64)),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['created_at'], name='core_answer_oldest')],
                    'constraints': [models.UniqueConstraint(fields=('project', 'agent', 'request_id'), name='core_one_answer_per_request')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Tag',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('folded', models.CharField(editable=False, max_length=300)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'folded'), name='core_one_tag_per_name')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.PositiveSmallIntegerField(choices=[(1, 'viewer'), (2, 'member'), (3, 'admin')], default=2)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='core.project')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('project', 'user'), name='core_one_membership_per_person', violation_error_message='This person already belongs to the project.')],
                },
            ),
            migrations.CreateModel(
                name='Layer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('folded', models.CharField(editable=False, max_length=300)),
                    ('position', models.PositiveSmallIntegerField(default=0)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'ordering': ('position', 'id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'folded'), name='core_one_layer_per_name')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Event',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('noun', models.CharField(max_length=30)),
                    ('verb', models.CharField(max_length=30)),
                    ('ref', models.TextField()),
                    ('at', models.DateTimeField()),
                    ('data', models.JSONField(default=dict)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'ordering': ('-id',),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', '-id'], name='core_event_newest'),
                        models.Index(fields=['project', 'agent', '-id'], name='core_event_by_agent'),
                        models.Index(fields=['project', '-at'], name='core_event_by_time'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Category',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('folded', models.CharField(editable=False, max_length=300)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'verbose_name_plural': 'categories',
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'folded'), name='core_one_category_per_name')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Tally',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('noun', models.CharField(max_length=30)),
                    ('layer', models.BigIntegerField(default=0)),
                    ('status', models.PositiveSmallIntegerField(default=0)),
                    ('count', models.BigIntegerField(default=0)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'verbose_name_plural': 'tallies',
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'noun', 'layer', 'status'), name='core_one_tally_per_place')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='SearchText',
                fields=[
                    ('id', ctxhub.core.search.models.RowIdField(primary_key=True, serialize=False)),
                    ('start', models.PositiveIntegerField(default=0)),
                    ('size', models.PositiveIntegerField(default=0)),
                    ('words', models.TextField()),
                    ('scope', models.TextField()),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='SearchEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=30)),
                    ('object_id', models.BigIntegerField()),
                    ('ref', models.TextField()),
                    ('updated_at', models.DateTimeField()),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'verbose_name_plural': 'search entries',
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'kind', 'object_id'), name='core_one_search_entry_per_thing')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='SearchWord',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('word', models.CharField(max_length=30)),
                    ('entry_id', models.BigIntegerField()),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'word'), name='core_one_search_word')],
                    'indexes': [models.Index(fields=['entry_id'], name='core_searchword_of_entry')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='PathPattern',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=30)),
                    ('object_id', models.BigIntegerField()),
                    ('position', models.PositiveSmallIntegerField()),
                    ('pattern', ctxhub.core.kit.models.PathField(blank=True, max_length=1000)),
                    ('head', ctxhub.core.kit.models.PathField(blank=True, max_length=200)),
                    ('stale', models.PositiveIntegerField(default=0)),
                    ('stale_since', models.DateTimeField(blank=True, null=True)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'verbose_name': 'stale row',
                    'indexes': [
                        models.Index(fields=['project', 'head'], name='core_pathpattern_by_head'),
                        models.Index(condition=models.Q(('stale__gt', 0)), fields=['project', 'stale_since'], name='core_pathpattern_stale'),
                    ],
                    'constraints': [models.UniqueConstraint(fields=('kind', 'object_id', 'position'), name='core_one_pattern_per_position')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='StaleCursor',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('event_id', models.BigIntegerField()),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project',), name='core_one_stale_cursor')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='SignInFailure',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='Case-folded.', max_length=150, verbose_name='who')),
                    ('address', models.CharField(max_length=45)),
                    ('count', models.PositiveIntegerField(default=0)),
                    ('first_at', models.DateTimeField(verbose_name='first')),
                    ('last_at', models.DateTimeField(verbose_name='last')),
                    ('until', models.DateTimeField(blank=True, null=True, verbose_name='refused until')),
                ],
                options={
                    'verbose_name': 'failed sign-in',
                    'indexes': [models.Index(fields=['last_at'], name='core_sign_in_oldest')],
                    'constraints': [models.UniqueConstraint(fields=('name', 'address'), name='core_one_count_per_sign_in')],
                },
            ),
        ]),
        MakeObjects(build, undo),
    ]
