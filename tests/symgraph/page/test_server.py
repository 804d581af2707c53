"""The server of `symgraph serve`, asked over HTTP as a browser asks, and as an attacker does."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any
from xml.etree import ElementTree

import pytest

from symgraph.cli import main
from symgraph.cli.answers import answer
from symgraph.page import PageServer
from symgraph.page.server import FIELDS, LARGEST_QUESTION

ENTROPY = "-sum(p*log(exp(z)/sum(exp(z))))"
GOOD = {"expression": ENTROPY, "wrt": "z", "facts": "p: simplex"}


@contextmanager
def running(answering: Any, seconds: float = 60.0) -> Generator[PageServer]:
    with PageServer(answering, seconds=seconds) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with running(answer) as found:
        yield found


def request(
    server: PageServer,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, Mapping[str, str], str]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=90)
    try:
        connection.request(method, path, body, dict(headers or {}))
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read().decode()
    finally:
        connection.close()


def own(server: PageServer) -> dict[str, str]:
    """The headers that the page's own script sends."""
    origin = server.url.rstrip("/")
    return {
        "Origin": origin,
        "Content-Type": "application/json",
        "X-Symgraph-Token": server.token,
    }


def asked(server: PageServer, question: Mapping[str, str]) -> Any:
    body = json.dumps(question).encode()
    status, _, text = request(server, "POST", "/derive", body, own(server))
    assert status == 200, text
    return json.loads(text)


# -- answers ---------------------------------------------------------------------------------------
def test_an_expression_gives_graphs_formulas_source_check_and_steps(server: PageServer) -> None:
    found = asked(server, GOOD)
    assert found["formulas"] == [["z", "softmax(z) - p"]]
    assert r"\operatorname{softmax}\left(z\right) - p" in found["latex"]
    assert found["operations"] < found["operations_before"]
    assert found["check"]["ok"]
    assert found["check"]["text"].startswith("PASS: ")
    assert "simplex(-1), of p" in found["steps"]
    assert [title for title, _ in found["pictures"]] == [
        "forward",
        "gradient as derived",
        "simplified",
    ]
    for _, picture in found["pictures"]:
        assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    assert found["explorer"].startswith("<!doctype html>")
    assert "np.subtract" in found["source"]


def test_shapes_dtypes_and_sizes_are_given_a_line_each() -> None:
    question = {
        "expression": "sum((A@x - b)**2)",
        "wrt": "A, x",
        "shapes": "A=m,n\n\n  b=m\n",
        "dtypes": "float32\nb=float64",
        "sizes": "m=2\nn=3",
        "trust": "domain",
    }
    found = answer(question)
    assert [name for name, _ in found["formulas"]] == ["A", "x"]
    assert "m = 2, n = 3" in found["check"]["text"]
    assert found["check"]["ok"]
    assert "float32[m, n]" in found["source"]


def test_a_check_that_cannot_be_made_leaves_the_closed_form() -> None:
    found = answer({"expression": "sum(x**3)", "wrt": "x", "shapes": "x=1000000"})
    assert found["formulas"]
    assert not found["check"]["ok"]
    assert found["check"]["text"].startswith("InputError: The check would draw 1000000 numbers")


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ({"expression": "sum(x", "wrt": "x"}, ["sum(x", "--wrt=x"]),
        ({"expression": "sum(zgamma(x))", "wrt": "x"}, ["sum(zgamma(x))", "--wrt=x"]),
        ({"expression": "cumsum(x)", "wrt": "x"}, ["cumsum(x)", "--wrt=x"]),
        ({"expression": "sum(x)", "wrt": "y"}, ["sum(x)", "--wrt=y"]),
        ({"expression": "sum(x)", "wrt": "x", "shapes": "3"}, ["sum(x)", "--wrt=x", "--shape=3"]),
        (
            {"expression": "sum(x)", "wrt": "x", "facts": "x: big"},
            ["sum(x)", "--wrt=x", "--given=x: big"],
        ),
    ],
)
def test_errors_are_those_of_the_command_line(
    server: PageServer,
    capsys: pytest.CaptureFixture[str],
    question: Mapping[str, str],
    arguments: list[str],
) -> None:
    assert main(["derive", *arguments]) == 2
    assert asked(server, question)["error"] == capsys.readouterr().err.rstrip("\n")


def test_a_question_without_names_or_with_an_unknown_trust(server: PageServer) -> None:
    assert "--wrt" in asked(server, {"expression": "sum(x * y)"})["error"]
    assert "'<b>'" in asked(server, {"expression": "x", "wrt": "x", "trust": "<b>"})["error"]


HOSTILE = [
    "__import__('os').system('touch broken')",
    "(lambda: 0)()",
    "x.__class__.__mro__",
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\u202e\u2028\x00" + "w" * 9_000,
    "\ud800",
    "(" * 9_000,
    "-" * 9_000 + "x",
    "9**9**9**9",
    "x" * 20_000,
]


@pytest.mark.parametrize("field", FIELDS)
def test_hostile_texts_give_errors_and_the_server_stays(server: PageServer, field: str) -> None:
    for text in HOSTILE:
        found = asked(server, {**GOOD, field: text})
        # A size concerns the check alone.
        told = found["check"]["text"] if field == "sizes" else found["error"]
        assert re.match(r"[A-Z]\w+Error: ", told), told
    assert asked(server, {"expression": "sum(exp(y))", "wrt": "y"})["check"]["ok"]


# -- who may ask -----------------------------------------------------------------------------------
def test_the_page_has_a_strict_policy_and_loads_nothing(server: PageServer) -> None:
    status, headers, text = request(server, "GET", "/")
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert not re.search(r"https?://", text)
    assert server.token in text


@pytest.mark.parametrize(
    "path", ["/?", "/index.html", "/../etc/passwd", "/%3Cscript%3E", "/derive"]
)
def test_an_unknown_path_is_not_found(server: PageServer, path: str) -> None:
    status, headers, text = request(server, "GET", path)
    assert (status, text) == (404, "Not Found\n")
    assert headers["Content-Type"].startswith("text/plain")
    assert "Content-Security-Policy" in headers


def test_it_listens_on_the_loopback_alone(server: PageServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:PORT", "127.0.0.1", ""])
def test_another_host_is_refused(server: PageServer, method: str, host: str) -> None:
    headers = {**own(server), "Host": host.replace("PORT", str(server.server_port))}
    status, _, text = request(server, method, "/" if method == "GET" else "/derive", b"{}", headers)
    assert status == 403
    assert server.token not in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("X-Symgraph-Token", "guess"),
        ("X-Symgraph-Token", "\xe9"),
    ],
)
def test_a_page_of_another_origin_may_not_ask(server: PageServer, name: str, value: str) -> None:
    body = json.dumps(GOOD).encode()
    status, _, _ = request(server, "POST", "/derive", body, {**own(server), name: value})
    assert status == 403


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"expression": 1}', b'{"eval": "1"}', b"\xff", b"[" * 60_000],
    ids=range(7),
)
def test_a_body_that_is_no_question_is_refused(server: PageServer, body: bytes) -> None:
    assert request(server, "POST", "/derive", body, own(server))[0] == 400
    plain = {**own(server), "Content-Type": "text/plain"}
    assert request(server, "POST", "/derive", json.dumps(GOOD).encode(), plain)[0] == 400


def test_a_body_that_is_too_large_or_has_no_length_is_refused(server: PageServer) -> None:
    body = json.dumps({"expression": "x" * LARGEST_QUESTION}).encode()
    status, _, text = request(server, "POST", "/derive", body, own(server))
    assert (status, text) == (413, f"A question has at most {LARGEST_QUESTION} bytes.\n")
    for length in ("-1", "1e3", "\xb2", "9" * 30):
        headers = {**own(server), "Content-Length": length}
        assert request(server, "POST", "/derive", b"{}", headers)[0] == 411
    chunked = {**own(server), "Transfer-Encoding": "chunked"}
    assert request(server, "POST", "/derive", b"0\r\n\r\n", chunked)[0] == 411


def test_another_method_and_a_request_that_is_none_are_refused_without_an_echo(
    server: PageServer,
) -> None:
    assert request(server, "DELETE", "/")[0] == 501
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as raw:
        raw.sendall(b"<script>alert(1)</script> x y z\r\n\r\n")
        found = b""
        while part := raw.recv(4096):
            found += part
    assert found == b"Bad Request\n"
    assert b"script>" not in found


# -- limits ----------------------------------------------------------------------------------------
def slow_once(question: Mapping[str, str]) -> dict[str, Any]:
    if question["expression"] == "slow":
        time.sleep(600)
    if question["expression"] == "dies":
        raise SystemExit
    if question["expression"] == "fails":
        raise ValueError("<b>private</b>")
    if question["expression"] == "large":
        return {"text": "x" * 20_000_000}
    if question["expression"] == "memory":
        return {"text": len(bytes(2**40))}
    return {"text": question["expression"]}


@pytest.mark.whole
def test_an_answer_has_limits_of_time_memory_and_size() -> None:
    with running(slow_once, seconds=3.0) as server:
        found = asked(server, {"expression": "slow"})
        assert found["error"].startswith("InputError: The answer takes more than 3 seconds.")
        assert asked(server, {"expression": "next"}) == {"text": "next"}
        assert "want of memory" in asked(server, {"expression": "dies"})["error"]
        assert "too large" in asked(server, {"expression": "large"})["error"]
        assert "MemoryError" in asked(server, {"expression": "memory"})["error"]
        assert "private" not in asked(server, {"expression": "fails"})["error"]
        assert asked(server, {"expression": "again"}) == {"text": "again"}


# -- the command -----------------------------------------------------------------------------------
def test_the_command_serves_until_it_is_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(server: PageServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PageServer, "serve_forever", stopped)
    assert main(["serve"]) == 0
    assert re.match(r"symgraph serves http://127\.0\.0\.1:\d+/ ", capsys.readouterr().out)


def test_the_command_refuses_a_taken_port_and_bad_options(
    server: PageServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", str(server.server_port)]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    for bad in ("--port=70000", "--port=x", "--seconds=0", "--seconds=nan"):
        assert main(["serve", bad]) == 2
