"""The server of the local page: this machine asks, nobody else, and no other site's page.

It listens on 127.0.0.1 alone. The Host header must name it, so that a foreign name that is made to
lead here (DNS rebinding) is refused. A question needs the token that stands in the page, which
pages of other origins cannot read. Requests, connections, time and memory are limited.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socketserver
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .document import document
from .worker import Answer, Worker

__all__ = ["FIELDS", "LARGEST_QUESTION", "PageServer"]

FIELDS = ("expression", "wrt", "shapes", "facts", "dtypes", "sizes", "trust")
"""The texts of a question."""
LARGEST_QUESTION = 64_000
"""The most bytes of a question."""
_DRAINED = 1_000_000
_CONNECTIONS = 32


class PageServer(ThreadingHTTPServer):
    """Serves the page and answers its questions until it is shut down.

    Parameters
    ----------
    answer : callable
        From the fields of a question, as texts, to what JSON can hold. It runs in another
        process, so it is a function of a module.
    port : int
        0 for any free one.
    seconds : float
        The time limit of an answer.

    Raises
    ------
    OSError
        If the port is taken.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answer: Answer, port: int = 0, seconds: float = 20.0) -> None:
        self.worker = Worker(answer, seconds)
        self.token = secrets.token_urlsafe(32)
        self.page, self.policy = document(self.token)
        self._free = threading.BoundedSemaphore(_CONNECTIONS)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_port}/"

    @property
    def hosts(self) -> tuple[str, str]:
        """The names of this server in a request."""
        port = "" if self.server_port == 80 else f":{self.server_port}"  # as browsers write it
        return f"127.0.0.1{port}", f"localhost{port}"

    def server_bind(self) -> None:
        """Bind without asking for a name of the address, which may wait for the network."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread; close the connection if too many are open."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, then let another connection in."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: the other side has gone."""

    def server_close(self) -> None:
        """Close the socket, and end the process that answers."""
        super().server_close()
        self.worker.close()


class _Handler(BaseHTTPRequestHandler):
    """One request: `GET /` for the page, `POST /derive` for an answer, nothing else."""

    server: PageServer  # pyright: ignore[reportIncompatibleVariableOverride]
    server_version = "symgraph"
    sys_version = ""
    timeout = 15  # of each read, so that a slow sender holds no thread

    def do_GET(self) -> None:
        if self._refused():
            return
        if self.path != "/":
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)

    def do_POST(self) -> None:
        if self._refused():
            return
        body = self._body()
        if body is None:
            return
        if self.path != "/derive":
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        given = self.headers.get("X-Symgraph-Token", "")
        if not hmac.compare_digest(given.encode("latin-1", "replace"), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "The token is another one. Load the page again.")
            return
        question = _question(body)
        if self.headers.get_content_type() != "application/json" or question is None:
            self._refuse(HTTPStatus.BAD_REQUEST, "A question is an object of texts, as JSON.")
            return
        self._send(HTTPStatus.OK, "application/json", self.server.worker.ask(question))

    def _refused(self) -> bool:
        """Whether the request is not of this server's own page; it has been answered then."""
        hosts = self.headers.get_all("Host") or []
        origins = self.headers.get_all("Origin") or []
        own = {f"http://{host}" for host in self.server.hosts}
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN, f"This server is {self.server.url} only.")
        elif not own.issuperset(origins):
            self._refuse(HTTPStatus.FORBIDDEN, "A page of another origin may not ask.")
        else:
            return False
        return True

    def _body(self) -> bytes | None:
        """The body; None if it has no length or is too long, which has been answered then."""
        lengths = self.headers.get_all("Content-Length") or []
        length = lengths[0] if len(lengths) == 1 and "Transfer-Encoding" not in self.headers else ""
        if not (length.isascii() and length.isdecimal() and len(length) < 16):
            self._refuse(HTTPStatus.LENGTH_REQUIRED)
            return None
        if int(length) > LARGEST_QUESTION:
            what = f"A question has at most {LARGEST_QUESTION} bytes."
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, what)
            # What is sent already is read, or the answer may be lost with the connection.
            self.rfile.read(min(int(length), _DRAINED))
            return None
        return self.rfile.read(int(length))

    # -- answers ---------------------------------------------------------------------------------
    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer an error of HTTP; the usual message repeats the request, this one does not."""
        self._refuse(HTTPStatus(code))

    def _refuse(self, status: HTTPStatus, why: str = "") -> None:
        self._send(status, "text/plain; charset=utf-8", f"{why or status.phrase}\n".encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", self.server.policy)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: the terminal shows the address only."""


_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def _question(body: bytes) -> Mapping[str, str] | None:
    """The fields of a question; None if the body is no such object."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not set(found) <= set(FIELDS):
        return None
    if not all(isinstance(text, str) for text in found.values()):
        return None
    return {name: found.get(name, "") for name in FIELDS}
