"""The tables of tracking, as the migrations made them that this one replaced."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

import ctxhub.core.kit.models
from ctxhub.core.kit.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('core', '0001_squashed_0010_sign_in_failures'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Lease',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('exclusive', models.BooleanField(default=True)),
                    ('reason', models.TextField(blank=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('expires_at', models.DateTimeField()),
                    ('released_at', models.DateTimeField(blank=True, null=True)),
                    ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='leases', to='core.agent')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('released_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='core.agent')),
                ],
                options={
                    'ordering': ('-id',),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(condition=models.Q(('released_at__isnull', True)), fields=['project', 'expires_at', 'id'], name='tracking_lease_live'),
                        models.Index(condition=models.Q(('released_at__isnull', False)), fields=['project', 'released_at'], name='tracking_lease_released'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='LeasePath',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pattern', ctxhub.core.kit.models.PathField(max_length=1000)),
                    ('head', ctxhub.core.kit.models.PathField(blank=True, editable=False, max_length=1000)),
                    ('lease', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='paths', to='tracking.lease')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'ordering': ('id',),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [models.Index(fields=['lease', 'id'], name='tracking_leasepath_of_lease')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='Resource',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('path', ctxhub.core.kit.models.PathField(max_length=1000)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('access_count', models.PositiveIntegerField(default=0, editable=False)),
                    ('best_access', models.PositiveSmallIntegerField(blank=True, choices=[(1, 'viewed'), (2, 'referenced'), (3, 'executed'), (4, 'edited')], editable=False, null=True)),
                    ('hash', models.CharField(blank=True, max_length=200)),
                    ('last_accessed', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('mark', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('size', models.PositiveBigIntegerField(blank=True, null=True)),
                    ('tokens', models.PositiveIntegerField(blank=True, null=True)),
                    ('type', models.PositiveSmallIntegerField(choices=[(1, 'code'), (2, 'documentation'), (3, 'data'), (4, 'research'), (5, 'generated')], default=2)),
                    ('content', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='resources', to='tracking.filecontent')),
                ],
                options={
                    'verbose_name': 'file',
                    'ordering': ('path',),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'path'), name='tracking_one_resource_per_path')],
                    'indexes': [models.Index(condition=models.Q(('content__isnull', False)), fields=['content'], name='tracking_resource_content')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='FileChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('change', models.PositiveSmallIntegerField(choices=[(1, 'created'), (2, 'modified'), (3, 'deleted')])),
                    ('description', models.TextField(blank=True)),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='file_changes', to='core.agent')),
                    ('layer', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='file_changes', to='core.layer')),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                    ('resource', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='changes', to='tracking.resource', verbose_name='file')),
                ],
                options={
                    'ordering': ('-at', '-id'),
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'indexes': [
                        models.Index(fields=['project', '-at', '-id'], name='tracking_change_newest'),
                        models.Index(fields=['resource', '-at', '-id'], name='tracking_change_by_resource'),
                        models.Index(fields=['project', 'agent', '-at', '-id'], name='tracking_change_by_agent'),
                        models.Index(fields=['project', 'layer', '-at', '-id'], name='tracking_change_by_layer'),
                        models.Index(fields=['project', 'change', '-at', '-id'], name='tracking_change_by_kind'),
                    ],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name='FileContent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('hash', models.CharField(max_length=64)),
                    ('text', models.TextField()),
                    ('tokens', models.PositiveIntegerField()),
                    ('compressed', models.TextField(blank=True)),
                    ('compressed_tokens', models.PositiveIntegerField(blank=True, null=True)),
                    ('digest', models.TextField(blank=True)),
                    ('digest_tokens', models.PositiveIntegerField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
                ],
                options={
                    'verbose_name': 'content',
                    'abstract': False,
                    'base_manager_name': 'unscoped',
                    'default_manager_name': 'unscoped',
                    'constraints': [models.UniqueConstraint(fields=('project', 'hash'), name='tracking_one_content_per_hash')],
                },
                managers=[
                    ('unscoped', django.db.models.manager.Manager()),
                ],
            ),
        ]),
    ]
