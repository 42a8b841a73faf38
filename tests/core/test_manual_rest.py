"""The examples of docs/rest.md run as they are printed."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from ctxhub.core.models import Event, Project
from tests.hub import LiveHub

pytestmark = pytest.mark.one_engine

MANUAL = settings.BASE_DIR / "docs" / "rest.md"
SETUP, *EXAMPLES = re.findall(r"```bash\n(.*?)```", MANUAL.read_text(), re.DOTALL)


@pytest.mark.usefixtures("django_db_reset_sequences")  # The first constraint is number 1.
def test_the_examples_run_as_printed(hub: LiveHub, apollo: Project, ada_token: str, tmp_path: Path) -> None:
    (tmp_path / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n")
    variables = {"HUB": f"{hub.url}/api/v1/projects/apollo", "TOKEN": ada_token, "CURL_HOME": str(tmp_path)}
    for example in EXAMPLES:
        result = subprocess.run(
            ["bash", "-ec", example],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, f"{example}\n{result.stdout}{result.stderr}"
    assert Event.objects.in_project(apollo).filter(verb="deleted").count() == 1


@pytest.mark.parametrize("name", ["HUB", "TOKEN"])
def test_the_first_block_exports_what_the_examples_need(name: str) -> None:
    assert f"export {name}=" in SETUP
