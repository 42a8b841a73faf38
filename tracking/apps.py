from django.apps import AppConfig


class TrackingConfig(AppConfig):
    name = "tracking"

    def ready(self) -> None:
        from tracking import nouns, retention, signals, tools  # noqa: F401
