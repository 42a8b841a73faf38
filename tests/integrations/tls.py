"""A proxy that speaks TLS, before a hub that does not."""

import asyncio
import queue
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hub import LiveHub
from tests.timing import PATIENCE_SECONDS

# What the proxy alone says of whoever asks, whatever they say themselves.
TOLD = (b"x-forwarded-proto:", b"x-forwarded-for:")


@dataclass(frozen=True)
class TlsHub(LiveHub):
    """The hub behind the proxy. `certificate`: what a client has to trust."""

    certificate: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"


@contextmanager
def behind_tls(hub: LiveHub, folder: Path) -> Iterator[TlsHub]:
    with tls_proxy(folder) as (server, lead_to):
        lead_to(hub)
        yield server


@contextmanager
def tls_proxy(folder: Path) -> Iterator[tuple[TlsHub, Callable[[LiveHub], None]]]:
    """A proxy, and what tells it the hub that it leads to, which may have to know its address first."""
    certificate, context = _certificate(folder)
    hubs: list[LiveHub] = []
    begun: queue.SimpleQueue[tuple[int, Callable[[], object]]] = queue.SimpleQueue()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = writer.get_extra_info("peername")[0].encode()
        with suppress(OSError, asyncio.CancelledError):
            above = await asyncio.open_connection("127.0.0.1", hubs[-1].port)
            await asyncio.gather(_pass_requests(reader, above[1], address), _pass(above[0], writer))

    async def serve() -> None:
        is_over, loop = asyncio.Event(), asyncio.get_running_loop()
        async with await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context) as server:
            port = server.sockets[0].getsockname()[1]
            begun.put((port, lambda: loop.call_soon_threadsafe(is_over.set)))
            await is_over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    port, end = begun.get(timeout=PATIENCE_SECONDS)
    try:
        yield TlsHub(port, certificate), hubs.append
    finally:
        end()
        thread.join(PATIENCE_SECONDS)


def _certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hub"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    written = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names, *written], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context


async def _pass_requests(source: asyncio.StreamReader, sink: asyncio.StreamWriter, address: bytes) -> None:
    """As docs/team-server.md has it for nginx: `Host` as it came, and who asks, over which scheme."""
    with suppress(OSError, asyncio.IncompleteReadError):
        while True:
            *lines, _, _ = (await source.readuntil(b"\r\n\r\n")).split(b"\r\n")
            kept = [line for line in lines if not line.lower().startswith(TOLD)]
            told = [TOLD[0] + b" https", TOLD[1] + b" " + address]
            sink.write(b"\r\n".join([*kept, *told, b"", b""]))
            for line in lines:
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    sink.write(await source.readexactly(int(value)))
            await sink.drain()
    sink.close()


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
    sink.close()
