"""Our copies of the theme's layouts differ from them only where they must."""

from difflib import ndiff
from pathlib import Path

import pytest
import unfold
from django.conf import settings

pytestmark = pytest.mark.one_engine

THEIRS = Path(unfold.__file__).parent / "templates"
OURS = settings.BASE_DIR / "ctxhub" / "templates"


def changed_lines(name: str) -> list[str]:
    theirs, ours = ((folder / name).read_text().splitlines() for folder in (THEIRS, OURS))
    return [" ".join(line.split()) for line in ndiff(theirs, ours) if line[0] in "+-" and line[1:].strip()]


def test_the_skeleton_is_the_theme_without_its_charts() -> None:
    """If this fails after an update of the theme: copy its file again, and make these changes."""
    assert changed_lines("unfold/layouts/skeleton.html") == [
        "- <script src=\"{% static 'unfold/js/chart/chart.js' %}\"></script>",
    ]
