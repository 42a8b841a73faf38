"""The button that opens the form to release a lease."""

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ctxhub.core.text.sentences import shortened
from tracking.models import Lease

NAME_CHARACTERS, PATH_CHARACTERS, PATHS_NAMED = 40, 120, 5


def release_button(lease: Lease) -> SafeString:
    """Opens the form of ctxhub/release_form.html, which release.js fills in from the button's attributes."""
    paths = sorted(path.pattern for path in lease.paths.all())
    named = ", ".join(cut(path, PATH_CHARACTERS) for path in paths[:PATHS_NAMED])
    more = f" and {len(paths) - PATHS_NAMED} more" if len(paths) > PATHS_NAMED else ""
    holder = cut(lease.agent.name, NAME_CHARACTERS)
    return format_html(
        '<button type="button" class="ctx-small-button" popovertarget="release" data-url="{}"'
        ' data-holder="{}" data-paths="{}" aria-label="Release {} of {}">Release</button>',
        reverse("admin:tracking_lease_force_release", args=[lease.pk]),
        holder,
        named + more,
        named + more,
        holder,
    )


def cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else shortened(text, characters)
