"""A browser without a window, driven over pipes, to see what the script of a report does."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)


class Browser:
    """Chromium with one page: opens files, evaluates JavaScript, and moves mouse and keys as a user does."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        # The browser reads commands from its file 3, and answers on its file 4.
        commands_read, self._commands = os.pipe()
        self._answers, answers_written = os.pipe()
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run")
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        self._process = subprocess.Popen(
            [
                *("bash", "-c", script, "bash"),
                *(str(commands_read), str(answers_written), CHROMIUM),
                *(*options, f"--user-data-dir={folder}", "--remote-debugging-pipe"),
            ],
            pass_fds=(commands_read, answers_written),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands_read)
        os.close(answers_written)
        self._rest = b""
        self._numbers = itertools.count(1)
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask(
            "Target.attachToTarget", targetId=target, flatten=True
        )["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(20)
        os.close(self._commands)
        os.close(self._answers)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Carry out a command of the DevTools protocol, and return its answer."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == number:
                assert "error" not in message, (method, message)
                answer: dict[str, Any] = message["result"]
                return answer
            self.events.append(message)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._answers, 1 << 16)
            assert part, "the browser has ended"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def open(
        self, path: Path, width: int = 1280, *, dark: bool = False, scripts: bool = True
    ) -> None:
        """Open a file in a window of a width, and wait until it is shown."""
        self.events.clear()
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=path.as_uri())
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._message())

    def get(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def point(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the mouse to a point of the window, and click there if asked."""
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.ask(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    def press(self, key: str) -> None:
        """Press a key."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self) -> bytes:
        """Return the visible part of the page as a PNG picture."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])

    def pdf(self) -> bytes:
        """Return the printed page."""
        printed = self.ask("Page.printToPDF", printBackground=False)
        return base64.b64decode(printed["data"])

    def problems(self) -> list[str]:
        """Return what the page logged or threw, and each request besides the page's own."""
        matches = []
        for event in self.events:
            method, values = event.get("method"), event.get("params", {})
            if method in ("Runtime.exceptionThrown", "Log.entryAdded"):
                matches.append(json.dumps(values))
            if method == "Network.requestWillBeSent" and values["type"] != "Document":
                matches.append(values["request"]["url"])
        return matches
