"""A real headless browser to look at pages with: Chromium, spoken to over a pair of pipes.

Chromium's own debugging protocol (``--remote-debugging-pipe``), one JSON object a message and a
zero byte after each: no driver and no library in between.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
NO_CHROMIUM = "no chromium found: apt-get install chromium, or set CHROMIUM to its path"


class Browser:
    """One page of a browser.

    Attributes:
        complaints: errors and warnings of the page's scripts, and every address that it asked for
            other than its own file.
    """

    def __init__(self, profile):
        from_us, self._to = os.pipe()
        self._from, to_us = os.pipe()
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")
        os.set_inheritable(from_us, True)
        os.set_inheritable(to_us, True)
        # The browser reads at 3 and writes at 4; the ends get there by way of numbers out of reach.
        wiring = f'exec 103<&{from_us} 104>&{to_us} && exec 3<&103 4>&104 && exec "$@"'
        self._process = subprocess.Popen(
            [
                *("bash", "-c", wiring, "bash", CHROMIUM, *options),
                *("--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self._unread, self._number, self._session = b"", 0, None
        self.complaints, self._events = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """One command; its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, url):
        """Load a page and wait until it is there."""
        self._events.clear()
        self._url = url.partition("#")[0]
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self._events:
            self._read()

    def run(self, script):
        """The value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def text(self, selector):
        """The text of the first element that matches."""
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector):
        """Press the mouse button in the middle of an element."""
        place = self.run(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)});"
            "it.scrollIntoView({block: 'center'}); const box = it.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=place[0],
                y=place[1],
                button="left",
                clickCount=1,
            )

    def press(self, key):
        """Press a key such as ``ArrowRight``."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def resize(self, width, height, phone=False):
        """The size of the window in its own pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            mobile=phone,
            deviceScaleFactor=2 if phone else 1,
        )

    def dark(self):
        """Ask pages for their dark colours."""
        dark = {"name": "prefers-color-scheme", "value": "dark"}
        self.call("Emulation.setEmulatedMedia", features=[dark])

    def screenshot(self, path, clip=None):
        """A PNG of the window, or of the part ``(x, y, width, height)`` of the whole page."""
        more = {}
        if clip:
            names = ("x", "y", "width", "height")
            more = {
                "clip": dict(zip(names, clip, strict=True), scale=1),
                "captureBeyondViewport": True,
            }
        data = self.call("Page.captureScreenshot", **more)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        """End the browser."""
        self._session = None
        try:
            self.call("Browser.close")
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._to)
            os.close(self._from)

    def _read(self, patience=60):
        """The next message; what the page complains of is noted."""
        deadline = time.monotonic() + patience
        while b"\0" not in self._unread:
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self._from], [], [], left)[0], "no answer"
            some = os.read(self._from, 1 << 20)
            assert some, "the browser has gone"
            self._unread += some
        line, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(line)
        method, told = message.get("method"), message.get("params", {})
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(told["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.complaints.append(told["args"])
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(told["entry"])
        elif method == "Network.requestWillBeSent":
            url = told["request"]["url"].partition("#")[0]
            if url != self._url and not url.startswith("data:"):
                self.complaints.append(url)
        return message
