from django.apps import AppConfig


class MessagingConfig(AppConfig):
    name = "messaging"

    def ready(self) -> None:
        from messaging import nouns, signals, tools  # noqa: F401
        from messaging import retention as retention_rules  # noqa: F401
        from messaging.messages import inbox as views  # noqa: F401
