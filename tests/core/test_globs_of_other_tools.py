"""Globs as other tools write them, over MCP and REST: braces, extended globs, escaped brackets."""

from typing import Any

import pytest

from tests.hub import WHOLE, McpClient, Reply, RestClient
from tracking.models import LeasePath

RULE = {"category": "style", "text": "Components are functions."}
NOTE = {"title": "Components", "content": "They are functions."}
TS = ["src/**/*.ts", "src/**/*.tsx"]
FIFTY_ONE = "{" + ",".join(f"f{n}" for n in range(51)) + "}.py"


def lease_paths() -> list[str]:
    return sorted(LeasePath.unscoped.values_list("pattern", flat=True))


def test_braces_are_stored_as_what_they_stand_for_over_mcp(ada_mcp: McpClient) -> None:
    braces = ["src/**/*.{ts,tsx}"]
    ada_mcp.call("decision", "set", key="k", value="v", paths=braces)
    ada_mcp.call("decision", "template_set", name="ui", defaults={"paths": braces})
    ada_mcp.call("decision", "from_template", name="ui", key="t", value="v")
    ada_mcp.call("constraint", "add", **RULE, paths=braces)
    memory = ada_mcp.call("memory", "add", **NOTE, paths=braces)["id"]
    assert ada_mcp.call("decision", "get", key="k")["decision"]["paths"] == TS
    assert ada_mcp.call("decision", "get", key="t")["decision"]["paths"] == TS
    assert ada_mcp.call("get", refs=[f"memory:{memory}"])["items"][0]["paths"] == TS
    found = ada_mcp.call("check", paths=["src/ui/button.tsx"])
    assert [row[0].partition(":")[0] for row in found["constraints"]["rows"]] == ["constraint"]
    assert {row[-1] for row in found["decisions"]["rows"]} == {"path src/**/*.tsx"}


def test_braces_are_stored_as_what_they_stand_for_over_rest(ada_rest: RestClient) -> None:
    braces = {"paths": ["src/**/*.{ts,tsx}"]}
    made = [
        ada_rest.post("decisions/", {"key": "k", "value": "v", **braces}, WHOLE),
        ada_rest.post("constraints/", {**RULE, **braces}, WHOLE),
        ada_rest.post("memories/", {**NOTE, **braces}, WHOLE),
    ]
    assert [reply.body["paths"] for reply in made] == [TS] * 3
    found = ada_rest.post("check/", {"paths": ["src/ui/button.tsx"]}).body
    assert [len(found[section]) for section in ("constraints", "decisions")] == [1, 1]


def test_a_lease_on_braces_holds_what_they_stand_for(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ben_mcp.call("file", "lease", paths=["src/{m,n}.py"])
    assert lease_paths() == ["src/m.py", "src/n.py"]
    refused = ada_mcp.call("file", "lease", paths=["src/m.py"])
    assert (refused["error"], refused["current"]["paths"]) == ("conflict", ["src/m.py", "src/n.py"])
    assert ada_mcp.call("file", "check_lock", path="src/{a,n}.py")["by"] == "ben"
    assert ada_mcp.call("check", paths=["src/{a,n}.py"])["clear"] is False
    assert ben_mcp.call("file", "lease", paths="src/{n,m}.py")["result"] == "extended"


def test_filters_take_braces_over_mcp_and_rest(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    for path in ("src/a.py", "src/b/c.ts", "docs/x.md", "src/{a,x}.py"):
        ada_mcp.call("file", "record", path=path, change="modified")
    ada_mcp.call("file", "lease", paths=["src/a.py"])
    for glob, files in {
        "{src/**,docs}/*.{ts,md}": {"src/b/c.ts", "docs/x.md"},
        "src/{a,b}.py": {"src/a.py"},
        "src/{a,x}.py": {"src/a.py", "src/{a,x}.py"},
        "{x,y}": set[str](),
    }.items():
        assert {row["path"] for row in ada_mcp.rows("file", "changes", path=glob)} == files
        assert {row["path"] for row in ada_rest.get("changes/", path=glob).body["items"]} == files
        assert {row["path"] for row in ada_rest.get("resources/", path=glob).body["items"]} == files
        leases = ada_rest.get("leases/", path=glob).body["items"]
        assert len(leases) == ("src/a.py" in files) == len(ada_mcp.rows("file", "leases", path=glob))


def test_many_files_in_braces_are_found(ada_mcp: McpClient) -> None:
    """More than the changes are read of file by file."""
    items = [{"path": f"src/{n}.{end}", "change": "modified"} for n in range(15) for end in ("ts", "js", "c")]
    ada_mcp.call("file", "record_batch", items=items)
    rows = ada_mcp.rows("file", "changes", path="src/*.{ts,js}", limit=50)
    assert {row["path"].partition(".")[2] for row in rows} == {"ts", "js"}
    assert len(rows) == 30


def test_a_file_that_is_called_so_is_found(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    """Braces in the name of a recorded file are letters; who asks for it is told of it, too."""
    ben_mcp.call("file", "record", path="src/{a,b}.py", change="modified")
    ben_mcp.call("file", "record", path="src/{c}.py", change="modified")
    ben_mcp.call("file", "lease", paths=["src/{c}.py"])
    found = ada_mcp.call("check", paths=["src/{a,b}.py", "src/{c}.py"])
    assert [row[1] for row in found["changes"]["rows"]] == ["src/{c}.py", "src/{a,b}.py"]
    assert found["leases"]["rows"][0][1] == "exclusive: src/{c}.py"
    assert ada_mcp.call("file", "check_lock", path="src/{a,b}.py")["by"] == "ben"


def test_brackets_are_letters_with_backslashes_or_without(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    rule = ada_mcp.call("constraint", "add", **RULE, paths=[r"app/\[id\]/page.tsx"])["id"]
    ben_mcp.call("file", "lease", paths=[r"app/\[\[...slug\]\]/page.tsx"])
    assert ada_mcp.call("get", refs=[f"constraint:{rule}"])["items"][0]["paths"] == ["app/[id]/page.tsx"]
    assert lease_paths() == ["app/[[...slug]]/page.tsx"]
    assert ada_mcp.call("check", paths=[r"app\[id]\page.tsx"])["constraints"]["rows"]
    recorded = ada_mcp.call("file", "record", path=r"app/\[id\]/page.tsx", change="modified")
    assert recorded["path"] == "app/[id]/page.tsx"


WRITES: list[tuple[str, str, dict[str, Any], str, dict[str, Any]]] = [
    ("decision", "set", {"key": "k", "value": "v"}, "decisions/", {"key": "k", "value": "v"}),
    ("constraint", "add", RULE, "constraints/", RULE),
    ("memory", "add", NOTE, "memories/", NOTE),
    ("file", "lease", {}, "leases/", {}),
]
EVERY_USE = [*WRITES, ("check", "", {}, "check/", {})]


@pytest.mark.parametrize(
    ("tool", "action", "given", "path", "body"), EVERY_USE, ids=lambda use: str(use)[:12]
)
def test_extended_globs_are_refused_everywhere(
    ada_mcp: McpClient, ada_rest: RestClient, tool: str, action: str, given: Any, path: str, body: Any
) -> None:
    paths = {"paths": ["src/*.@(ts|tsx)"]}
    answers = [
        ada_mcp.call(tool, action or None, **given, **paths),
        ada_rest.post(path, {**body, **paths}).body,
    ]
    for answer in answers:
        assert answer["error"] == "invalid"
        assert answer["message"].startswith("paths[0]: 'src/*.@(ts|tsx)' has the extended glob @(")
        assert "Write 'src/*.{ts,tsx}'" in answer["hint"]


@pytest.mark.parametrize(("tool", "action", "given", "path", "body"), WRITES, ids=lambda use: str(use)[:12])
def test_what_braces_stand_for_counts_toward_the_50(
    ada_mcp: McpClient, ada_rest: RestClient, tool: str, action: str, given: Any, path: str, body: Any
) -> None:
    for paths in ([FIFTY_ONE], ["{a,b}{c,d}{e,f}{g,h}{i,j}", "{x,y}{c,d}{e,f}{g,h}{i,j}"]):
        answer = ada_mcp.call(tool, action, **given, paths=paths)
        assert (answer["error"], answer["message"].startswith("paths")) == ("invalid", True)
        assert ada_rest.post(path, {**body, "paths": paths}).status == 400


def test_check_and_filters_take_64_of_one_glob(ada_mcp: McpClient) -> None:
    most, more = "{a,b}" * 6, "{a,b}" * 7
    assert ada_mcp.call("check", paths=[f"{most}.py", f"{most}/*.py"])["clear"] is True
    assert ada_mcp.rows("file", "changes", path=most) == []
    for answer in (
        ada_mcp.call("check", paths=[more]),
        ada_mcp.call("file", "changes", path=more),
        ada_mcp.call("file", "leases", path=more),
        ada_mcp.call("file", "check_lock", path=more),
        ada_mcp.call("memory", "grep", pattern="x", glob=more),
    ):
        assert answer["error"] == "invalid"
        assert "stands for more than 64 globs" in answer["message"]


def test_braces_escape_no_rule_of_paths(ada_mcp: McpClient) -> None:
    """What they stand for is checked as if it had been written so."""
    for glob in ("{/etc,a}/x", "{..,a}/x", "{a,..}/x", "src/{a,../b}", "{C:,a}/x", "{a,}"):
        for answer in (
            ada_mcp.call("file", "lease", paths=[glob]),
            ada_mcp.call("check", paths=[glob]),
            ada_mcp.call("constraint", "add", **RULE, paths=[glob]),
        ):
            assert answer["error"] == "invalid", (glob, answer)


def test_a_lease_on_every_file_is_short_in_braces_too(ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("file", "lease", paths=["{**,a}"], minutes=600)
    assert answer["hint"].startswith("** matches every file, so the lease lasts 60 minutes")


def test_equal_alternatives_are_one(ada_mcp: McpClient) -> None:
    ada_mcp.call("file", "lease", paths=["{src,src}/**", "src/**"])
    assert lease_paths() == ["src/**"]


# -- Exemptions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["!src/gen/**", "{!src,lib}/**"])
def test_an_exemption_is_refused_in_leases_check_and_filters(
    ada_mcp: McpClient, ada_rest: RestClient, path: str
) -> None:
    refused: list[dict[str, Any] | Reply] = [
        ada_mcp.call("file", "lease", paths=["src/**", path]),
        ada_mcp.call("check", paths=["src/**", path]),
        ada_mcp.call("file", "changes", path=path),
        ada_mcp.call("file", "leases", path=path),
        ada_mcp.call("file", "check_lock", path=path),
        ada_mcp.call("memory", "grep", pattern="x", glob=path),
        ada_rest.post("leases/", {"paths": [path]}).body,
        ada_rest.get("changes/", path=path).body,
        ada_rest.get("resources/", path=path).body,
    ]
    for answer in refused:
        assert isinstance(answer, dict)
        assert answer["error"] == "invalid"
        assert "begins with '!'" in answer["message"]
