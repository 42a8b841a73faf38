"""Decisions that are there are counted; from now on every write keeps the figures."""

from django.db import migrations

COUNT = """
    INSERT INTO core_tally (project_id, noun, layer, status, count)
    SELECT project_id, 'decision', coalesce(layer_id, 0), status, count(*) FROM memory_decision
    GROUP BY project_id, coalesce(layer_id, 0), status"""


class Migration(migrations.Migration):
    dependencies = [("core", "0003_seed_categories"), ("memory", "0001_initial")]

    operations = [migrations.RunSQL(COUNT, "DELETE FROM core_tally WHERE noun = 'decision'")]
