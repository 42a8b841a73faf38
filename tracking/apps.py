from django.apps import AppConfig


class TrackingConfig(AppConfig):
    name = "tracking"

    def ready(self) -> None:
        from tracking import tools  # noqa: F401
