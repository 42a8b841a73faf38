from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"

    def ready(self) -> None:
        from memory import (  # noqa: F401
            named_views,
            nouns,
            retention,
            signals,
            tools,
        )
