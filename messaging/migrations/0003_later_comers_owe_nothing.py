"""Of messages to everyone: agents that came later owe nothing, nor do those not seen since the week before."""

from datetime import timedelta
from typing import Any

from django.db import migrations
from django.db.models import Exists, F, OuterRef


def release_later_comers(apps: Any, schema_editor: Any) -> None:
    agent, delivery = apps.get_model("core", "Agent"), apps.get_model("messaging", "Delivery")
    week_before = F("at") - timedelta(days=7)
    there = agent.unscoped.filter(project=OuterRef("project"), folded=OuterRef("folded"), created_at__lte=OuterRef("at"))
    to_everyone = delivery.unscoped.filter(message__to_everyone=True).annotate(week_before=week_before)
    owing = Exists(there.filter(last_seen_at__gte=OuterRef("week_before")))
    to_everyone.exclude(owing).update(owed=False)


class Migration(migrations.Migration):

    dependencies = [
        ('messaging', '0002_owed'),
        ('core', '0001_squashed_0010_sign_in_failures'),
    ]

    operations = [
        migrations.RunPython(release_later_comers, migrations.RunPython.noop),
    ]
