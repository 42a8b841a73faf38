"""The tools, resources and prompts that the official conformance suite calls, in place of the hub's own.

What is tested is the hub's: its dispatcher, its table of methods with their checks, eras, transports, tokens.
"""

import base64
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.core.signing import BadSignature, Signer

from ctxhub.core.kit.progress import tell_progress
from ctxhub.mcp import methods
from ctxhub.mcp.json_rpc import INVALID_PARAMS, RpcError
from ctxhub.mcp.list_pages import page_of
from ctxhub.mcp.progress import SECONDS_BETWEEN
from ctxhub.mcp.requests import LIST_TTL_MS, Request, Result, Work

MISSING_CAPABILITY = -32021
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00"
    b"\x02\x00\x10\x00data\x00\x00\x00\x00"
).decode()

signer = Signer(salt="conformance")
Answer = Callable[[Request], Result]


def text(said: str) -> Result:
    return {"type": "text", "text": said}


def content(*blocks: Result, **more: Any) -> Result:
    return {"content": [*blocks], **more}


def embedded(uri: str, mime_type: str, said: str) -> Result:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": said}}


def image() -> Result:
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


# -- What a tool asks the client for, in the later era: in an answer, which the client repeats the call with


def asked(requests: Mapping[str, Result], state: str = "") -> Result:
    signed = {"requestState": signer.sign(state)} if state else {}
    return {"resultType": "input_required", "inputRequests": {**requests}, **signed}


def form(message: str, name: str, kind: str = "string") -> Result:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def question(said: str, most: int) -> Result:
    message = {"role": "user", "content": text(said)}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": most}}


def roots() -> Result:
    return {"method": "roots/list", "params": {}}


def given(request: Request) -> Mapping[str, Any]:
    found = request.params.get("inputResponses")
    return found if isinstance(found, dict) else {}


def state_of(request: Request) -> str:
    """Raises RpcError for a state that is not the one given before."""
    try:
        return signer.unsign(request.params.get("requestState") or "")
    except BadSignature:
        raise RpcError(INVALID_PARAMS, "requestState is not as it was given.") from None


def answered(request: Request, name: str, field: str) -> Any:
    """What a form was answered with; None if it was not, or not as asked."""
    answer = given(request).get(name)
    filled = answer.get("content") if isinstance(answer, dict) else None
    return filled.get(field) if isinstance(filled, dict) else None


def asks_for_a_name(request: Request) -> Result:
    if name := answered(request, "user_name", "name"):
        return content(text(f"Hello, {name}!"))
    return asked({"user_name": form("What is your name?", "name")})


def asks_a_model(request: Request) -> Result:
    answer = given(request).get("capital_question")
    if isinstance(answer, dict):
        return content(text(f"The model says: {json.dumps(answer.get('content'))}"))
    return asked({"capital_question": question("What is the capital of France?", 100)})


def asks_for_roots(request: Request) -> Result:
    answer = given(request).get("client_roots")
    if isinstance(answer, dict):
        return content(text(f"Roots: {json.dumps(answer.get('roots'))}"))
    return asked({"client_roots": roots()})


def keeps_a_state(request: Request) -> Result:
    if not given(request):
        return asked({"confirm": form("Please confirm", "ok", "boolean")}, "waiting")
    return content(text(f"state-ok: {state_of(request)}"))


def asks_for_several(request: Request) -> Result:
    wanted = {
        "user_name": form("What is your name?", "name"),
        "greeting": question("Generate a greeting", 50),
        "client_roots": roots(),
    }
    if wanted.keys() <= given(request).keys():
        return content(text(f"All of it: {state_of(request)}"))
    return asked(wanted, "several")


def asks_twice(request: Request) -> Result:
    if answered(request, "step2", "color"):
        return content(text(f"Done after {state_of(request)}."))
    if name := answered(request, "step1", "name"):
        state_of(request)
        return asked({"step2": form("Step 2: What is your favorite color?", "color")}, f"step 1 by {name}")
    return asked({"step1": form("Step 1: What is your name?", "name")}, "the beginning")


def asks_what_the_client_can(request: Request) -> Result:
    can = request.meta.get(CAPABILITIES) or {}
    wanted = {"elicitation": ("name", form("Your name?", "name")), "sampling": ("say", question("Hi", 9))}
    return asked(dict(wanted[name] for name in wanted if name in can) or {"roots": roots()})


def needs_sampling(request: Request) -> Result:
    if "sampling" not in (request.meta.get(CAPABILITIES) or {}):
        data: Result = {"requiredCapabilities": {"sampling": {}}}
        raise RpcError(MISSING_CAPABILITY, "This tool needs the capability sampling.", data)
    return content(text("It has it."))


# -- Tools -----------------------------------------------------------------------------------------


def tells_progress(request: Request) -> Result:
    for done in (1, 50, 100):
        tell_progress(done, 100, "steps")
        time.sleep(SECONDS_BETWEEN * 1.2)
    return content(text("Done."))


TOOLS: dict[str, Answer] = {
    "test_simple_text": lambda _: content(text("This is a simple text response for testing.")),
    "test_image_content": lambda _: content(image()),
    "test_audio_content": lambda _: content({"type": "audio", "data": WAV, "mimeType": "audio/wav"}),
    "test_embedded_resource": lambda _: content(embedded("test://embedded-resource", "text/plain", "Here.")),
    "test_multiple_content_types": lambda _: content(
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_error_handling": lambda _: content(text("This tool always fails."), isError=True),
    "test_tool_with_progress": tells_progress,
    "test_missing_capability": needs_sampling,
    "test_input_required_result_elicitation": asks_for_a_name,
    "test_input_required_result_sampling": asks_a_model,
    "test_input_required_result_list_roots": asks_for_roots,
    "test_input_required_result_request_state": keeps_a_state,
    "test_input_required_result_tampered_state": keeps_a_state,
    "test_input_required_result_multiple_inputs": asks_for_several,
    "test_input_required_result_multi_round": asks_twice,
    "test_input_required_result_capabilities": asks_what_the_client_can,
}


def list_tools(request: Request) -> Result:
    tools = [
        {"name": name, "description": f"For the suite: {name}.", "inputSchema": NO_ARGUMENTS}
        for name in TOOLS
    ]
    return page_of(request, "tools", tools)


def call_tool(request: Request) -> Result | Work:
    name = request.params["name"]
    if name not in TOOLS:
        return content(text(f"There is no tool {name}."), isError=True)
    if name == "test_missing_capability":
        return TOOLS[name](request)
    return work(TOOLS[name], request)


def work(answer: Answer, request: Request) -> Work:
    """Runs where the calls of the hub's own tools do."""

    def failed(error: Exception) -> Result:
        raise error

    return Work(lambda: answer(request), failed, lambda: False)


# -- Resources, prompts, completion ------------------------------------------------------------------

RESOURCES: dict[str, Result] = {
    "test://static-text": {"mimeType": "text/plain", "text": "The content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "It never changes."},
}
TEMPLATE = ("test://template/", "/data")


def list_resources(request: Request) -> Result:
    found = [
        {"uri": uri, "name": uri.rpartition("/")[2], "mimeType": each["mimeType"]}
        for uri, each in RESOURCES.items()
    ]
    return page_of(request, "resources", found)


def list_templates(request: Request) -> Result:
    template = {"uriTemplate": "{id}".join(TEMPLATE), "name": "template", "mimeType": "application/json"}
    return page_of(request, "resourceTemplates", [template])


def read_resource(request: Request) -> Result:
    uri = request.params["uri"]
    found = RESOURCES.get(uri)
    if found is None and uri.startswith(TEMPLATE[0]) and uri.endswith(TEMPLATE[1]):
        identity = uri[len(TEMPLATE[0]) : -len(TEMPLATE[1])]
        data = {"id": identity, "templateTest": True, "data": f"Data for ID: {identity}"}
        found = {"mimeType": "application/json", "text": json.dumps(data)}
    if found is None:
        code = INVALID_PARAMS if request.is_later else -32002
        raise RpcError(code, f"There is no resource {uri}.", {"uri": uri})
    return request.cached({"contents": [{"uri": uri, **found}]}, LIST_TTL_MS)


def user(*blocks: Result) -> Result:
    return {"messages": [{"role": "user", "content": block} for block in blocks]}


def asks_for_a_context(request: Request) -> Result:
    if context := answered(request, "user_context", "context"):
        return user(text(f"In the context of {context}."))
    return asked({"user_context": form("What context should the prompt use?", "context")})


def repeats(request: Request) -> Result:
    said = request.params.get("arguments") or {}
    return user(text(f"Prompt with arguments: arg1='{said.get('arg1')}', arg2='{said.get('arg2')}'"))


def embeds(request: Request) -> Result:
    uri = (request.params.get("arguments") or {}).get("resourceUri", "")
    return user(embedded(uri, "text/plain", "Embedded."), text("Please process the resource above."))


PROMPTS: dict[str, tuple[Answer, tuple[str, ...]]] = {
    "test_simple_prompt": (lambda _: user(text("This is a simple prompt for testing.")), ()),
    "test_prompt_with_arguments": (repeats, ("arg1", "arg2")),
    "test_prompt_with_embedded_resource": (embeds, ("resourceUri",)),
    "test_prompt_with_image": (lambda _: user(image(), text("Please analyze the image above.")), ()),
    "test_input_required_result_prompt": (asks_for_a_context, ()),
}


def list_prompts(request: Request) -> Result:
    prompts = [
        {
            "name": name,
            "description": f"For the suite: {name}.",
            "arguments": [{"name": each, "description": f"The {each}.", "required": True} for each in names],
        }
        for name, (_, names) in PROMPTS.items()
    ]
    return page_of(request, "prompts", prompts)


def get_prompt(request: Request) -> Result | Work:
    name = request.params["name"]
    if name not in PROMPTS:
        raise RpcError(INVALID_PARAMS, f"There is no prompt {name}.")
    return work(PROMPTS[name][0], request)


def complete(request: Request) -> Result:
    begun = request.params["argument"]["value"]
    values = [each for each in ("paris", "park", "party", "test1") if each.startswith(begun)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


ANSWERS: dict[str, Callable[[Request], Result | Work]] = {
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
    "completion/complete": complete,
}


def install() -> None:
    """Let the hub's methods answer with these. The hub's own tools ask a client for nothing."""
    for name, answer in ANSWERS.items():
        methods.METHODS[name] = methods.METHODS[name]._replace(answer=answer)
    signed = methods._signed
    methods._signed = lambda result: {
        **signed(result),
        **{name: result[name] for name in ("resultType",) if name in result},
    }
