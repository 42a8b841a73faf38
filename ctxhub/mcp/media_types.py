"""The media types of `/mcp`: what a body may be, and as what a client takes its answer."""

from collections.abc import Iterator, Mapping

from ctxhub.core.kit.errors import CtxhubError, InvalidInput

JSON, EVENTS = "application/json", "text/event-stream"
_UTF8 = ("", "utf-8", "utf8", "us-ascii")

Parameters = dict[str, str]


def refuse_body(headers: Mapping[str, str]) -> tuple[int, CtxhubError] | None:
    """415 if the request's body is not JSON in UTF-8, or if it is compressed."""
    encoding = headers.get("content-encoding", "").strip()
    if encoding.lower() not in ("", "identity"):
        return 415, InvalidInput(f"The body is compressed ({encoding[:60]}).", hint="Send it as it is.")
    [(kind, parameters), *others] = _parsed(headers.get("content-type", ""))
    if others or kind != JSON:
        return 415, InvalidInput("MCP is sent as JSON.", hint=f"Send the header Content-Type: {JSON}.")
    charset = parameters.get("charset", "")
    if charset.lower() not in _UTF8:
        return 415, InvalidInput(f"The body is in {charset[:60]}.", hint="Send JSON in UTF-8.")
    return None


def accepted(headers: Mapping[str, str]) -> str | None:
    """As what the answer is sent: JSON where the client takes it, else an event; None if it takes neither."""
    if not headers.get("accept", "").strip():
        return JSON
    ranges = _ranges(headers)
    return next((kind for kind in (JSON, EVENTS) if _takes(ranges, kind)), None)


def names_events(headers: Mapping[str, str]) -> bool:
    """Whether the client says that it takes a stream of events, not only that it takes anything."""
    return _ranges(headers).get(EVENTS, 0) > 0


def _ranges(headers: Mapping[str, str]) -> dict[str, float]:
    return {kind: _quality(parameters) for kind, parameters in _parsed(headers.get("accept", ""))}


def _takes(ranges: Mapping[str, float], kind: str) -> bool:
    """The most specific range that holds the type decides."""
    wider = (kind, f"{kind.partition('/')[0]}/*", "*/*", "*")
    return next((ranges[name] > 0 for name in wider if name in ranges), False)


def _quality(parameters: Parameters) -> float:
    try:
        return float(parameters.get("q", 1))
    except ValueError:
        return 1.0


def _parsed(header: str) -> Iterator[tuple[str, Parameters]]:
    """The media types of a header in lower case, each with its parameters."""
    for part in header.split(","):
        kind, *parameters = part.split(";")
        pairs = (parameter.partition("=") for parameter in parameters)
        yield kind.strip().lower(), {name.strip().lower(): value.strip(' "\t') for name, _, value in pairs}
