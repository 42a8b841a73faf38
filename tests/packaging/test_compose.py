"""compose.yaml agrees with the Dockerfile, with the hub's settings and commands, and with its page."""

import re
from typing import Any

import dj_database_url
import pytest
from django.core.management import get_commands, load_command_class

from ctxhub.env import names, origin
from ctxhub.management.unread_variables import known_variables
from tests.packaging.image import COMPOSE, services, step, steps
from tests.packaging.page import team_server_blocks

CONNECTIONS_OF_A_WORKER = 12
CONNECTIONS_OF_POSTGRESQL = 97  # By default, for those who are no superuser.


def printed() -> str:
    """The commands of the page's part about containers."""
    return "".join(block.text for block in team_server_blocks() if block.section == "In containers")


def variables_in_env_file() -> dict[str, str]:
    return dict(re.findall(r"^([A-Z_]+)=(.*)$", printed(), re.MULTILINE))


def parsed(words: list[str]) -> Any:
    """The options of a command of `manage.py`. Raises CommandError."""
    parser = load_command_class(get_commands()[words[0]], words[0]).create_parser("manage.py", words[0])
    parser.called_from_command_line = False
    return parser.parse_args(words[1:])


def test_the_hub_reads_every_variable_that_it_gets() -> None:
    given = {*services()["hub"]["environment"], *variables_in_env_file()} - {"POSTGRES_PASSWORD"}
    assert given <= known_variables()


def test_what_compose_fills_in_is_in_the_file_that_the_page_makes() -> None:
    filled_in = set(re.findall(r"\$\{(\w+)", COMPOSE.read_text()))
    assert filled_in == {"POSTGRES_PASSWORD", "CTXHUB_BASE_URL"}
    assert filled_in <= variables_in_env_file().keys()


def test_the_health_check_may_ask_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in variables_in_env_file().items():
        monkeypatch.setenv(name, value)
    assert origin("CTXHUB_BASE_URL", "").removeprefix("https://") in names("CTXHUB_ALLOWED_HOSTS")
    assert "127.0.0.1" in names("CTXHUB_ALLOWED_HOSTS")
    assert "http://127.0.0.1:8000/readyz" in step("HEALTHCHECK").words[-1]


def test_the_database_is_the_one_beside_it() -> None:
    hub, database = services()["hub"], services()["database"]
    url = dj_database_url.parse(re.sub(r"\$\{.*\}", "secret", hub["environment"]["DATABASE_URL"]))
    # The image of PostgreSQL makes a database with the name of the user.
    assert (url["HOST"], url["USER"], url["NAME"]) == (
        "database",
        *[database["environment"]["POSTGRES_USER"]] * 2,
    )
    assert url["PASSWORD"] == "secret"
    workers = parsed(hub["command"]).workers
    assert workers * CONNECTIONS_OF_A_WORKER <= CONNECTIONS_OF_POSTGRESQL


def test_each_waits_until_the_one_behind_it_is_healthy() -> None:
    conditions = {name: service.get("depends_on", {}) for name, service in services().items()}
    assert conditions == {
        "database": {},
        "hub": {"database": {"condition": "service_healthy"}},
        "proxy": {"hub": {"condition": "service_healthy"}},
    }
    assert services()["database"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert "HEALTHCHECK" in [each.name for each in steps()]


def test_the_proxy_alone_is_published_and_reaches_the_hub() -> None:
    assert {name for name, service in services().items() if "ports" in service} == {"proxy"}
    hub = parsed(services()["hub"]["command"])
    assert (hub.host, f"hub:{hub.port}") == ("0.0.0.0", services()["proxy"]["command"][-1])
    assert services()["hub"]["environment"]["CTXHUB_BEHIND_PROXY"] == "true"


def test_what_lasts_is_in_volumes() -> None:
    declared = re.findall(r"^  (\w+):$", COMPOSE.read_text().split("\nvolumes:\n")[1], re.MULTILINE)
    mounted = [volume for service in services().values() for volume in service["volumes"]]
    assert sorted(volume.partition(":")[0] for volume in mounted) == sorted(declared)
    assert f"var:{step('VOLUME').rest}" in mounted
    [made] = [each.rest for each in steps() if "install --directory" in each.rest]
    for target in (volume.partition(":")[2] for volume in services()["hub"]["volumes"]):
        assert target in made, "a volume belongs to the hub's user only if the image has its folder"


def test_a_stop_leaves_the_hub_its_time() -> None:
    assert services()["hub"]["stop_grace_period"] == "30s"
    # Before it listens, a process with the number 1 is not ended by SIGTERM.
    assert services()["hub"]["init"] is True


def test_the_commands_that_the_page_prints_exist() -> None:
    named = re.findall(r"docker (?:compose )?run .*\b(?:hub|ctxhub) (setup .*)$", printed(), re.MULTILINE)
    named += re.findall(r"python manage\.py (.*)$", printed(), re.MULTILINE)
    assert len(named) >= 6
    for command in named:
        parsed(command.replace('"', "").split())
    assert set(re.findall(r"docker compose exec (\w+)", printed())) <= services().keys()
