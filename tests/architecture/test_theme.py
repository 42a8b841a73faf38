"""Our copies of the theme's layouts differ from them only where they must."""

import re
from difflib import ndiff
from pathlib import Path

import pytest
import unfold
from django.conf import settings
from django.contrib.staticfiles import finders

pytestmark = pytest.mark.one_engine

THEIRS = Path(unfold.__file__).parent / "templates"
OURS = settings.BASE_DIR / "ctxhub" / "templates"


def changed_lines(name: str) -> list[str]:
    theirs, ours = ((folder / name).read_text().splitlines() for folder in (THEIRS, OURS))
    return [" ".join(line.split()) for line in ndiff(theirs, ours) if line[0] in "+-" and line[1:].strip()]


CHANGES = {
    "unfold/layouts/skeleton.html": [
        "- <script src=\"{% static 'unfold/js/chart/chart.js' %}\"></script>",
        '+ <a class="ctx-skip" href="#content">Skip to the content</a>',
    ],
    "admin/base.html": [
        '- {% include "unfold/helpers/header.html" %}',
        "+ <header",
        "- <div",
        "+ <div",
        '- <div id="content"',
        '+ <main id="content" tabindex="-1"',
        "- </div>",
        "+ </main>",
        "- {% block footer %}{% endblock %}",
        "+ <footer",
    ],
    "unfold/layouts/unauthenticated.html": [
        "- <div",
        '+ <main id="content"',
        "- </div>",
        "+ </main>",
        '- {% include "unfold/helpers/unauthenticated_header.html" %}',
        "+ <header",
    ],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_copy_has_only_these_changes(name: str) -> None:
    """If this fails after an update of the theme: copy its file again, and make the changes."""
    assert [line.partition(" class=")[0] for line in changed_lines(name)] == [
        line.partition(" class=")[0] for line in CHANGES[name]
    ]


def test_each_file_that_our_pages_name_is_there() -> None:
    """Scripts of the theme move from version to version."""
    named = {
        name
        for template in OURS.rglob("*.html")
        for name in re.findall(r"""{% static ['"]([^'"{}]+)['"] %}""", template.read_text())
    }
    assert "unfold/js/alpine/alpine.js" in named
    assert [name for name in sorted(named) if finders.find(name) is None] == []
