from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"

    def ready(self) -> None:
        from memory import nouns, retention, signals, tools  # noqa: F401
        from memory.selectors import named_views  # noqa: F401
