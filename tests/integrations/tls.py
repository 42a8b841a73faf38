"""A proxy that speaks TLS, before a hub that does not."""

import asyncio
import queue
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.hub import LiveHub
from tests.timing import PATIENCE_SECONDS


@dataclass(frozen=True)
class TlsHub(LiveHub):
    """The hub behind the proxy. `certificate`: what a client has to trust."""

    certificate: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"


@contextmanager
def behind_tls(hub: LiveHub, folder: Path) -> Iterator[TlsHub]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hub"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    written = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names, *written], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    begun: queue.SimpleQueue[tuple[int, Callable[[], object]]] = queue.SimpleQueue()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            above = await asyncio.open_connection("127.0.0.1", hub.port)
            await asyncio.gather(_pass(reader, above[1]), _pass(above[0], writer))

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
        yield TlsHub(port, certificate)
    finally:
        end()
        thread.join(PATIENCE_SECONDS)


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
    sink.close()
