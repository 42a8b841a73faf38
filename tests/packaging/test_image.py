"""The steps of the Dockerfile that need no builder, run in a folder: the hub starts, writes, and stops."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.packaging.image import copy_sent, step, steps
from tests.preloaded import without_own_variables
from tests.timing import PATIENCE_SECONDS, wait_until

NOBODY = 65534
# Reads what belongs to root, as the environment of the tests may, and writes nothing of it.
AS_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *(
        "--inh-caps=-all,+dac_read_search",
        "--ambient-caps=-all,+dac_read_search",
        "--bounding-set=-all,+dac_read_search",
    ),
)
IS_ROOT = os.geteuid() == 0 and shutil.which("setpriv") is not None

pytestmark = [pytest.mark.one_engine, pytest.mark.skipif(sys.platform == "win32", reason="an image is Linux")]


class Container:
    """The folder in which the image's steps were run, and its port in place of 8000."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = str(port)
        self.environment = {
            **without_own_variables(os.environ),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
            "DATABASE_URL": "",
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def command(self, words: list[str]) -> list[str]:
        """As the image's user, which is not root."""
        found = [word.replace("8000", self.port) for word in words]
        return [*(AS_NOBODY if IS_ROOT else ()), *found]

    def run(self, words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(words),
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=5 * PATIENCE_SECONDS,
            check=False,
        )

    def is_healthy(self) -> bool:
        return self.run(step("HEALTHCHECK").words).returncode == 0

    def listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", int(self.port)), PATIENCE_SECONDS).close()
        except OSError:
            return False
        return True

    @contextmanager
    def running(self) -> Iterator["subprocess.Popen[str]"]:
        """ENTRYPOINT with CMD, once it listens and the health check succeeds."""
        words = [*step("ENTRYPOINT").words, *step("CMD").words, "--port", self.port]
        with subprocess.Popen(
            self.command(words), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                wait_until(lambda: process.poll() is not None or self.listens())
                assert process.poll() is None, "it has ended"
                wait_until(self.is_healthy)
                yield process
            finally:
                process.kill()

    def files(self) -> Mapping[str, float]:
        """What is in the image's folder but for the volume, and when it was changed."""
        return {
            str(file): file.stat().st_mtime
            for file in self.folder.rglob("*")
            if not file.is_relative_to(self.folder / "var")
        }


@pytest.fixture(scope="module")
def container() -> Iterator[Container]:
    # Not pytest's folder: each run of pytest closes that to other users again.
    with tempfile.TemporaryDirectory(prefix="ctxhub-image-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        copy_sent(folder)
        (folder / "var").mkdir(mode=0o700)
        if IS_ROOT:
            os.chown(folder / "var", NOBODY, NOBODY)
        with socket.create_server(("127.0.0.1", 0)) as free:
            made = Container(folder, free.getsockname()[1])
        [compiling] = [each.rest for each in steps() if each.name == "RUN" and "compileall" in each.rest]
        subprocess.run(["/bin/sh", "-c", compiling], cwd=folder, env=made.environment, check=True)
        yield made


def test_a_hub_that_is_not_set_up_says_so_and_ends(container: Container) -> None:
    ended = container.run([*step("ENTRYPOINT").words, *step("CMD").words], CTXHUB_VAR_DIR="/nonexistent/var")
    assert ended.returncode == 1
    assert not container.is_healthy()


def test_it_is_healthy_stops_by_sigterm_and_keeps_what_is_in_its_volume(container: Container) -> None:
    before = container.files()
    entrypoint = step("ENTRYPOINT").words
    made = container.run([*entrypoint, "setup", "--project", "apollo", "--no-input"])
    assert made.returncode == 0, made.stderr
    kept = [(container.folder / "var" / name).read_bytes() for name in ("secret_key", "setup_token")]
    for _ in ("started", "started again"):
        with container.running() as process:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_SECONDS)
            # In a container it has the number 1, and then the signal itself ends nothing.
            assert process.returncode in (0, -signal.SIGTERM)
    assert kept == [(container.folder / "var" / name).read_bytes() for name in ("secret_key", "setup_token")]
    assert container.files() == before, "it has written outside of its volume"
    assert {"ctxhub.sqlite3", "secret_key", "static"} <= {
        file.name for file in (container.folder / "var").iterdir()
    }


def test_the_image_has_no_compilers_and_does_not_run_as_root() -> None:
    names = [each.name for each in steps()]
    user = step("USER").rest
    assert user != "root"
    assert names.index("USER") < names.index("ENTRYPOINT")
    run = " ".join(each.rest for each in steps() if each.name == "RUN")
    assert f"useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin {user}" in run
    assert "--no-install-recommends" in run
    assert not {"build-essential", "gcc", "python3-dev", "libpq-dev", "git", "make"} & {*run.split()}


def test_what_is_secret_or_not_needed_stays_out(container: Container) -> None:
    found = {file.name for file in container.folder.iterdir()}
    assert not {".env", ".git", ".venv", "tests", "docs", "benchmarks"} & found
    assert {"manage.py", "ctxhub", ".env.example"} <= found
