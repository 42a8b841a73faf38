"""The example of the original scratchpad tool, call by call over real stdio: three agents take turns."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from ctxhub.core.accounts.projects import create_project
from tests.emptying import empty_database
from tests.stdio import StdioClient, stdio_hub

pytestmark = pytest.mark.one_engine

ANALYSIS = "發現 3 個主要問題:\n1. UserService 效能瓶頸...\n2. 記憶體洩漏..."
SOLUTION = "\n\n建議解決方案:\n1. 加入快取層...\n2. 實作物件池..."


@pytest.fixture(scope="module")
def client(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[StdioClient]:
    """One server for all tests, each of which works in a workflow of its own."""
    with django_db_blocker.unblock():
        create_project(slug="apollo")
        with stdio_hub("--project", "apollo") as client:
            client.start()
            yield client
        empty_database()


def test_three_agents_work_on_one_pad_in_turn(client: StdioClient) -> None:
    # 1. 建立工作流程
    workflow = client.call("scratchpad", "create_workflow", name="Code Refactoring Task")
    assert set(workflow) == {"workflow_id", "created_at"}

    # 2. Agent A 分析代碼並記錄
    made = client.call(
        "scratchpad",
        "create",
        agent="Agent A",
        workflow_id=workflow["workflow_id"],
        name="code_analysis",
        content=ANALYSIS,
    )
    assert set(made) == {"scratchpad_id", "created_at"}

    # 3. Agent B 讀取分析結果
    analysis = client.call("scratchpad", "get", agent="Agent B", scratchpad_id=made["scratchpad_id"])
    fields = {"id", "name", "workflow_id", "content", "created_at", "updated_at", "revision"}
    assert set(analysis["scratchpad"]) == fields
    assert analysis["scratchpad"]["content"] == ANALYSIS

    # 4. Agent B 補充解決方案
    appended = client.call(
        "scratchpad", "append", agent="Agent B", scratchpad_id=made["scratchpad_id"], content=SOLUTION
    )
    whole = f"{ANALYSIS}\n\n{SOLUTION}"
    assert appended == {"updated_at": appended["updated_at"], "new_length": len(whole)}

    # 5. Agent C 搜尋相關資訊
    found = client.call(
        "scratchpad",
        "search",
        agent="Agent C",
        workflow_id=workflow["workflow_id"],
        query="快取 效能",
        limit=10,
    )
    assert found["columns"] == ["scratchpad_id", "name", "workflow_id", "snippet"]
    [[pad, name, within, snippet]] = found["rows"]
    assert (pad, name, within) == (made["scratchpad_id"], "code_analysis", workflow["workflow_id"])
    assert "«效能»瓶頸" in snippet
    assert "加入«快取»層" in snippet

    # 6. 列出所有 scratchpads
    listed = client.call("scratchpad", "list", workflow_id=workflow["workflow_id"], include_content=False)
    assert listed["columns"] == ["id", "name", "length", "created_at", "updated_at"]
    [row] = listed["rows"]
    assert row[:3] == [made["scratchpad_id"], "code_analysis", len(whole)]


def test_unknown_ids_and_long_content_answer_as_in_the_original_tool(client: StdioClient) -> None:
    assert client.call("scratchpad", "list", workflow_id=999_999)["rows"] == []
    assert client.call("scratchpad", "get", scratchpad_id=999_999) == {"scratchpad": None}
    workflow = client.call("scratchpad", "create_workflow")["workflow_id"]
    too_large = "記" * 400_000
    made = client.call("scratchpad", "create", workflow_id=workflow, name="large", content=too_large)
    assert "151,425 were cut off" in made["warning"]
    [row] = client.call("scratchpad", "list", workflow_id=workflow)["rows"]
    assert row[2] == 1_048_576 // 3


def test_metadata_may_come_as_a_json_string(client: StdioClient) -> None:
    client.call("scratchpad", "create_workflow", name="w", metadata='{"owner": "payments"}')
    answer = client.call("scratchpad", "workflows", format="objects")
    [metadata] = [row["metadata"] for row in answer["items"] if row["name"] == "w"]
    assert metadata == {"owner": "payments"}


def test_include_content_lists_the_contents(client: StdioClient) -> None:
    workflow = client.call("scratchpad", "create_workflow")["workflow_id"]
    for n in range(2):
        client.call("scratchpad", "create", workflow_id=workflow, name=f"pad {n}", content=f"text {n}")
    listed = client.call("scratchpad", "list", workflow_id=workflow, include_content=True)
    assert [row[-1] for row in listed["rows"]] == ["text 0", "text 1"]
    ids = [row[0] for row in listed["rows"]]
    several = client.call("scratchpad", "get", scratchpad_ids=ids)
    assert [pad["content"] for pad in several["scratchpads"]] == ["text 0", "text 1"]
