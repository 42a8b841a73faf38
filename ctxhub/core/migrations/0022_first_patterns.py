from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0021_folders_at'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='pathpattern',
            index=models.Index(
                condition=models.Q(('pattern__gt', ''), ('position', 0)),
                fields=['project'],
                name='core_pathpattern_first',
            ),
        ),
    ]
