"""Chromium driven over its debugging pipe: standard library only, no port, no network."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """One headless browser with one page. `problems` collects console errors and exceptions."""

    def __init__(self, binary: str) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        from_us, self._write = os.pipe()
        self._read, to_us = os.pipe()
        flags = "--headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run"
        flags += " --disable-background-networking --remote-debugging-pipe --disable-dev-shm-usage"
        shell = f'exec "$0" {flags} --user-data-dir="$1" about:blank 3<&{from_us} 4>&{to_us}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, binary, self._profile.name],
            pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self._buffer, self._number, self._session = b"", 0, None
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        self._send("Browser.close", {})
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = self._send(method, parameters)
        while True:
            message = self._receive()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return dict(message["result"])
            self._note(message)

    def open(
        self,
        page: Path,
        width: int,
        scheme: str = "light",
        media: str = "screen",
        motion: str = "no-preference",
    ) -> None:
        """Load a local file at `width` CSS pixels; returns when its load event has fired.

        scheme, motion: what the reader prefers (light or dark; no-preference or reduce).
        """
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=844 if width < 600 else 900,
            deviceScaleFactor=2 if width < 600 else 1,
            mobile=width < 600,
        )
        wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.call("Page.navigate", url=page.resolve().as_uri())
        deadline = time.monotonic() + 20
        while self.evaluate("document.readyState") != "complete":
            if time.monotonic() > deadline:
                raise TimeoutError(f"{page} did not load in 20 s.")
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        self.call(
            "Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def press_tab(self) -> None:
        self.press("Tab", 9)

    def screenshot(self, path: Path) -> None:
        """The whole page, not only what the window shows."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path: Path) -> None:
        """The page on A4 paper, in the style for print."""
        self.call("Emulation.setEmulatedMedia", media="print")
        answer = self.call(
            "Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69
        )
        path.write_bytes(base64.b64decode(answer["data"]))

    def _send(self, method: str, parameters: dict[str, Any]) -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._number

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError("Chromium closed its debugging pipe.")
            self._buffer += chunk
        first, self._buffer = self._buffer.split(b"\0", 1)
        return dict(json.loads(first))

    def _note(self, message: dict[str, Any]) -> None:
        method, content = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(content["exceptionDetails"]))
        if method == "Runtime.consoleAPICalled" and content["type"] in ("error", "warning"):
            self.problems.append(str(content["args"]))
        if method == "Log.entryAdded" and content["entry"]["level"] in ("error", "warning"):
            self.problems.append(str(content["entry"]))
        if method == "Network.requestWillBeSent":
            self.requests.append(content["request"]["url"])
