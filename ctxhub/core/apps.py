from django.apps import AppConfig
from django.conf import settings


class CoreConfig(AppConfig):
    name = "ctxhub.core"
    label = "core"

    def ready(self) -> None:
        from django.contrib.contenttypes.models import ContentType

        from ctxhub.core import checks, nouns, signals  # noqa: F401
        from ctxhub.core.hub import object_tools, tools  # noqa: F401
        from ctxhub.core.kit.newer_schema import remember_migrations
        from ctxhub.core.kit.replaced_file import when_replaced
        from ctxhub.core.text import token_count

        remember_migrations()
        when_replaced.append(ContentType.objects.clear_cache)
        if settings.EXACT_TOKENS:
            token_count.use_exact_counts()
