from django.apps import AppConfig
from django.conf import settings


class CoreConfig(AppConfig):
    name = "ctxhub.core"
    label = "core"

    def ready(self) -> None:
        from ctxhub.core import checks, own_nouns, signals, token_count, tools  # noqa: F401
        from ctxhub.core.services import visitors  # noqa: F401

        if settings.EXACT_TOKENS:
            token_count.use_exact_counts()
