from django.apps import AppConfig


class TrackingConfig(AppConfig):
    name = "tracking"

    def ready(self) -> None:
        from tracking import nouns, tools  # noqa: F401
        from tracking.files import signals  # noqa: F401
