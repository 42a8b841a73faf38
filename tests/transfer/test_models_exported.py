"""Every table is in an export, or is named here with the reason why not."""

from itertools import chain

from django.apps import apps
from django.db.models import Model

from ctxhub.core.models import Project
from ctxhub.core.transfer.declaration import exported_kinds

APPS = ("core", "memory", "messaging", "tracking", "agent_sessions")
WHY_LEFT = {
    "who may come in is the hub's": (
        *("core.AccessToken", "core.Enrolment", "core.Invitation", "core.Membership"),
    ),
    "people": ("core.Preference", "core.Visit", "core.SignInFailure"),
    "what the hub notes of itself": ("core.HubRecord",),
    "addresses are secrets": ("core.Webhook", "core.WebhookDelivery"),
    "they are deleted": ("core.BinItem", "core.BinPart"),
    "of the moment": (
        "core.HeardSession",
        "core.RequestCount",
        "core.StoredAnswer",
        "agent_sessions.Presence",
        "tracking.Lease",
        "tracking.LeasePath",
    ),
    "the index": ("core.SearchEntry", "core.SearchText", "core.SearchWord", "core.TermCount"),
    "computed": ("core.Tally", "core.PathPattern", "core.StaleCursor", "messaging.Result"),
    "where rows came from is in their UUIDs": ("core.Import", "core.Origin"),
    "learned from this hub's use": ("memory.PredictionOutcome", "memory.PredictionWeights"),
}


def test_every_model_is_exported_or_named() -> None:
    exported: set[type[Model]] = {Project}
    for each in exported_kinds(with_log=True):
        exported |= {each.model, *(part.model for part in each.parts)}
        exported |= {many.remote_field.through for many in each.words.values()}
    ours = {model for model in apps.get_models(include_auto_created=True) if model._meta.app_label in APPS}
    assert {model._meta.label for model in ours - exported} == {*chain(*WHY_LEFT.values())}
