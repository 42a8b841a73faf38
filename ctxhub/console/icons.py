"""Loads templates with their icons hidden from screen readers, which would read the names of symbols aloud.

Half of the icons stand in templates of the theme. A template is changed once, when it is loaded.
"""

import re

from django.template.base import Origin
from django.template.loaders import app_directories, filesystem

_TAG = re.compile(r"""<(?:span|div|i)\b(?:"[^"]*"|'[^']*'|[^<>"'])*>""")


class ProjectLoader(filesystem.Loader):
    def get_contents(self, origin: Origin) -> str:
        return with_hidden_icons(super().get_contents(origin))


class AppLoader(app_directories.Loader):
    def get_contents(self, origin: Origin) -> str:
        return with_hidden_icons(super().get_contents(origin))


def with_hidden_icons(template: str) -> str:
    """The source with `aria-hidden` in each tag that draws an icon. Buttons keep theirs: they need a name."""
    return _TAG.sub(_hidden, template) if "material-symbols" in template else template


def _hidden(tag: re.Match[str]) -> str:
    if "material-symbols" not in tag[0] or "aria-hidden" in tag[0]:
        return tag[0]
    return f'{tag[0][:-1].rstrip()} aria-hidden="true">'
