"""A browser for tests: headless Chromium, driven by W3C WebDriver, which is JSON over HTTP."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

__all__ = ["Browser", "missing"]

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_KEYS = {"Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014"}
_KEYS |= {"ArrowDown": "\ue015", "Enter": "\ue007", "Home": "\ue011", "End": "\ue010"}


def missing() -> str:
    """Why no browser can be started here; an empty string if one can."""
    for name in ("chromium", "chromedriver"):
        if shutil.which(name) is None:
            return f"{name} is not installed (apt-get install chromium chromium-driver)"
    return ""


class Browser:
    """A session of a browser, with an empty profile of its own."""

    def __init__(self, width: int = 1280, height: int = 800) -> None:
        self._profile = tempfile.mkdtemp()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._root = f"http://127.0.0.1:{port}"
        self._driver = subprocess.Popen(
            [str(shutil.which("chromedriver")), f"--port={port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait()
        flags = [*_FLAGS, f"--window-size={width},{height}", f"--user-data-dir={self._profile}"]
        options = {"binary": shutil.which("chromium"), "args": flags}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        found = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._root += f"/session/{found['sessionId']}"

    def _wait(self) -> None:
        for _ in range(200):
            try:
                self._call("GET", "/status")
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._root + path, data, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, path: Path) -> None:
        self.visit(path.as_uri())

    def visit(self, url: str) -> None:
        self._call("POST", "/url", {"url": url})

    def frame(self, number: int | None) -> None:
        """Let scripts run in a frame of the page, or in the page again."""
        self._call("POST", "/frame", {"id": number})

    def run(self, script: str, *args: object) -> Any:
        return self._call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def keys(self, *names: str) -> None:
        """Press keys, by their names or as characters."""
        presses = [_KEYS.get(name, name) for name in names]
        actions = [
            {"type": kind, "value": press} for press in presses for kind in ("keyDown", "keyUp")
        ]
        self._call(
            "POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]}
        )

    def click(self, x: float, y: float) -> None:
        """Click at a point of the window."""
        moves = [
            {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": "p", "actions": moves}
        self._call("POST", "/actions", {"actions": [pointer]})

    def dark(self) -> None:
        """Let pages see a dark colour scheme."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
        body = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": scheme}}
        self._call("POST", "/goog/cdp/execute", body)

    def screenshot(self) -> bytes:
        return base64.b64decode(self._call("GET", "/screenshot"))

    def messages(self) -> list[str]:
        """What the console has said since it was last asked."""
        found = self._call("POST", "/se/log", {"type": "browser"})
        return [each["message"] for each in found]

    def close(self) -> None:
        try:
            self._call("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(20)
            shutil.rmtree(self._profile, ignore_errors=True)
