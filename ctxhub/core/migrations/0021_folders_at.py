from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0020_sessions_of_refusals'),
    ]

    operations = [
        migrations.AddField(
            model_name='pathpattern',
            name='folders_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
