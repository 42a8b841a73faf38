"""The tables of sessions, as the migrations made them that this one replaced."""

import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

from ctxhub.core.kit.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('core', '0001_squashed_0010_sign_in_failures'),
        ('tracking', '0001_squashed_0003_resource_types'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='AgentSession',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(blank=True, max_length=100)),
                    ('workspace_id', models.CharField(default='default', max_length=200)),
                    ('summary', models.TextField(blank=True)),
                    ('token_count', models.PositiveIntegerField(default=0)),
                    ('is_implicit', models.BooleanField(default=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('saved_at', models.DateTimeField(blank=True, null=True)),
                    ('current_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='sessions', to='core.agent')),
                    ('parent', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='children', to='agent_sessions.agentsession', verbose_name='continues')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'verbose_name': 'session',
                    'ordering': ('-created_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(condition=models.Q(('saved_at__isnull', False)), fields=['project', 'agent', 'workspace_id', '-saved_at', '-id'], name='sessions_session_last_saved'),
                        models.Index(condition=models.Q(('current_at__isnull', False)), fields=['project', 'agent', '-current_at', '-id'], name='sessions_session_current'),
                        models.Index(fields=['project', 'updated_at', 'id'], name='sessions_session_oldest'),
                        models.Index(fields=['project', '-created_at', '-id', 'is_implicit'], name='sessions_session_by_time'),
                        models.Index(fields=['project', 'agent', '-created_at', '-id', 'is_implicit', 'workspace_id'], name='sessions_session_by_agent'),
                        models.Index(fields=['project', 'workspace_id', '-created_at', '-id', 'is_implicit', 'agent'], name='sessions_session_by_space'),
                        models.Index(fields=['parent', '-created_at', '-id', 'is_implicit', 'project'], name='sessions_session_by_parent'),
                    ],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('name', ''), _negated=True), fields=('project', 'name'), name='sessions_one_session_per_name', violation_error_message='A session with this name exists.')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Access',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('access', models.PositiveSmallIntegerField(choices=[(1, 'viewed'), (2, 'referenced'), (3, 'executed'), (4, 'edited')])),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='accesses', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('resource', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='accesses', to='tracking.resource', verbose_name='file')),
                    ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='accesses', to='agent_sessions.agentsession')),
                ],
                options={
                    'verbose_name_plural': 'accesses',
                    'ordering': ('-created_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', '-created_at', '-id'], name='sessions_access_newest'),
                        models.Index(fields=['project', 'access', '-created_at', '-id'], name='sessions_access_by_kind'),
                        models.Index(fields=['resource', '-created_at', '-id'], name='sessions_access_by_file'),
                        models.Index(fields=['session', '-created_at', '-id'], name='sessions_access_by_session'),
                        models.Index(fields=['agent', '-created_at', '-id'], name='sessions_access_by_agent'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='ContextItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveSmallIntegerField()),
                    ('category', models.CharField(blank=True, max_length=100)),
                    ('content', models.TextField()),
                    ('importance', models.PositiveSmallIntegerField(default=5)),
                    ('token_count', models.PositiveIntegerField()),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='agent_sessions.agentsession')),
                ],
                options={
                    'ordering': ('position',),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('session', 'position'), name='sessions_one_item_per_position')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Conversation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.TextField()),
                    ('token_count', models.PositiveIntegerField()),
                    ('hash', models.CharField(max_length=64)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to='agent_sessions.agentsession')),
                ],
                options={
                    'ordering': ('-created_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['session', '-created_at', '-id'], name='sessions_conversation_newest')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='ResourceDependency',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('type', models.CharField(max_length=100)),
                    ('strength', models.PositiveIntegerField(default=1)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='outgoing', to='tracking.resource')),
                    ('target', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='incoming', to='tracking.resource')),
                ],
                options={
                    'verbose_name': 'dependency',
                    'verbose_name_plural': 'dependencies',
                    'ordering': ('source', 'target', 'type'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['target', 'source'], name='sessions_dependency_incoming')],
                    'constraints': [models.UniqueConstraint(fields=('source', 'target', 'type'), name='sessions_one_dependency_per_type', violation_error_message='This dependency exists.')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='SessionResource',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('relevance', models.PositiveSmallIntegerField(default=0)),
                    ('included', models.BooleanField(default=False)),
                    ('mode', models.PositiveSmallIntegerField(blank=True, choices=[(1, 'full'), (2, 'compressed'), (3, 'digest'), (4, 'reference')], null=True)),
                    ('compressed_tokens', models.PositiveIntegerField(blank=True, null=True)),
                    ('access_count', models.PositiveIntegerField(default=0)),
                    ('last_accessed', models.DateTimeField(blank=True, null=True)),
                    ('best_access', models.PositiveSmallIntegerField(blank=True, choices=[(1, 'viewed'), (2, 'referenced'), (3, 'executed'), (4, 'edited')], null=True)),
                    ('modified', models.BooleanField(default=False)),
                    ('is_saved', models.BooleanField(default=False)),
                    ('hash', models.CharField(blank=True, max_length=200)),
                    ('modified_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('resource', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to='tracking.resource', verbose_name='file')),
                    ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='resources', to='agent_sessions.agentsession')),
                ],
                options={
                    'verbose_name': 'file of a session',
                    'verbose_name_plural': 'files of sessions',
                    'ordering': ('session', 'id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['resource', 'session'], name='sessions_resource_sessions'),
                        models.Index(models.F('session'), models.OrderBy(models.F('relevance'), descending=True), models.OrderBy(django.db.models.functions.comparison.Coalesce('last_accessed', 'created_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='sessions_resource_relevant'),
                        models.Index(models.F('session'), models.OrderBy(models.F('access_count'), descending=True), models.OrderBy(django.db.models.functions.comparison.Coalesce('last_accessed', 'created_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='sessions_resource_often'),
                        models.Index(models.F('session'), models.OrderBy(django.db.models.functions.comparison.Coalesce('last_accessed', 'created_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='sessions_resource_recent'),
                    ],
                    'constraints': [models.UniqueConstraint(fields=('session', 'resource'), name='sessions_one_resource_per_session')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='WorkspaceState',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('active_project', models.CharField(blank=True, max_length=200)),
                    ('enabled_mcps', models.JSONField(blank=True, default=list)),
                    ('settings', models.JSONField(blank=True, default=dict)),
                    ('branch', models.CharField(blank=True, max_length=200)),
                    ('worktree', models.CharField(blank=True, max_length=1000)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='states', to='agent_sessions.agentsession')),
                ],
                options={
                    'ordering': ('-created_at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['session', '-created_at', '-id'], name='sessions_state_newest')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Briefing',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('session_name', models.CharField(blank=True, max_length=100)),
                    ('via', models.CharField(max_length=20)),
                    ('tokens', models.PositiveIntegerField(blank=True, null=True)),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='briefings', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('session', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agent_sessions.agentsession')),
                ],
                options={
                    'ordering': ('-at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', 'agent', '-at', '-id'], name='sessions_briefing_by_agent'),
                        models.Index(condition=models.Q(('session__isnull', False)), fields=['session', '-at'], name='sessions_briefing_by_session'),
                        models.Index(fields=['project', '-at', '-id'], name='sessions_briefing_newest'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='BriefingItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=30)),
                    ('object_id', models.BigIntegerField()),
                    ('version', models.CharField(blank=True, max_length=100)),
                    ('detail', models.CharField(blank=True, max_length=20)),
                    ('briefing', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='agent_sessions.briefing')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'ordering': ('id',),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['briefing', 'id'], name='sessions_briefingitem_in_order'),
                        models.Index(fields=['project', 'kind', 'object_id', '-briefing'], name='sessions_briefingitem_given'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Notice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=30)),
                    ('object_id', models.BigIntegerField()),
                    ('version', models.CharField(blank=True, max_length=100)),
                    ('message_id', models.BigIntegerField(blank=True, null=True)),
                    ('nudged_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField()),
                    ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(condition=models.Q(('nudged_at__isnull', True)), fields=['agent', 'id'], name='sessions_notice_to_nudge'),
                        models.Index(fields=['project', 'created_at'], name='sessions_notice_oldest'),
                    ],
                    'constraints': [models.UniqueConstraint(fields=('agent', 'kind', 'object_id', 'version'), name='sessions_one_notice_per_version')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
        ]),
    ]
