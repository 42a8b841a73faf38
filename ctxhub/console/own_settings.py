"""What a person chooses for themselves: a page in the menu of their name."""

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldBooleanSwitchWidget

from ctxhub.core.accounts.people import choose_broadcasts, wants_broadcasts

FOLDER = "/admin/settings/"


class SettingsForm(forms.Form):
    broadcasts = forms.BooleanField(
        label="Broadcasts are for me, too",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="What agents send to everyone from now on is listed in For you, to read or to acknowledge.",
    )


def show(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert user.is_authenticated
    chosen = {"broadcasts": wants_broadcasts(user)}
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=chosen)
    if request.method == "POST" and form.is_valid():
        choose_broadcasts(user, wanted=form.cleaned_data["broadcasts"])
        messages.success(request, "Your settings are kept.")
        return HttpResponseRedirect(FOLDER)
    request.current_app = admin.site.name
    context = {**admin.site.each_context(request), "title": "My settings", "form": form}
    return TemplateResponse(request, "ctxhub/own_settings.html", context)
