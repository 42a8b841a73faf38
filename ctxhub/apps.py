from django.apps import AppConfig


class CtxhubConfig(AppConfig):
    """The project package as an app, so that Django finds its commands."""

    name = "ctxhub"
    label = "ctxhub"
