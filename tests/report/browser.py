"""A headless Chromium, driven over its debugging pipe: no driver and no package beside the browser itself."""
import base64
import fcntl
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

PATIENCE = 60  # seconds, for one answer on a busy machine
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}


class NoBrowser(Exception):
    pass


def program():
    """The browser's program: TYTO_BROWSER, or the first of the usual names that is there."""
    named = os.environ.get("TYTO_BROWSER", "")
    for name in [named] if named else NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise NoBrowser(f"no browser: none of {', '.join([named] if named else NAMES)} is installed (scripts/setup.sh --browser)")


class Browser:
    """One page at a time. What the page says in its console, and what it asks a network for, is kept."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="tyto-browser-", ignore_cleanup_errors=True)
        self.process, self.to_browser, from_browser = start(program(), self.profile.name)
        self.messages = queue.Queue()
        threading.Thread(target=listen, args=(from_browser, self.messages), daemon=True).start()
        self.last_id, self.session, self.events = 0, None, []
        try:
            self.send("Browser.getVersion")
        except (OSError, RuntimeError) as error:
            self.close()
            raise NoBrowser(f"the browser does not start: {error}") from error
        self.attach()

    def attach(self):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.size(1400, 1000)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.profile.cleanup()

    def send(self, method, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self.next_message(end, method)
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def next_message(self, end, what):
        try:
            message = self.messages.get(timeout=max(0.01, end - time.monotonic()))
        except queue.Empty:
            raise RuntimeError(f"{what}: no answer in {PATIENCE} s") from None
        if message is None:
            raise RuntimeError(f"{what}: the browser has ended")
        return message

    def open(self, path):
        """Opens a file and waits until its script has run."""
        self.events.clear()
        answer = self.send("Page.navigate", url=Path(path).resolve().as_uri())
        if answer.get("errorText"):
            raise RuntimeError(f"{path}: {answer['errorText']}")
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def run(self, script):
        """The value of a script, as JSON has it."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait(self, condition):
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            if time.monotonic() > end:
                raise RuntimeError(f"not true within {PATIENCE} s: {condition}")
            time.sleep(0.02)

    def settle(self):
        """Until what was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def size(self, width, height, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme, media=""):
        self.send("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.settle()

    def click(self, x, y):
        self.drag(x, y, x, y)

    def drag(self, x, y, to_x, to_y):
        button = {"button": "left", "clickCount": 1}
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, buttons=1, **button)
        self.mouse("mouseMoved", (x + to_x) / 2, (y + to_y) / 2, buttons=1, button="left")
        self.mouse("mouseMoved", to_x, to_y, buttons=1, button="left")
        self.mouse("mouseReleased", to_x, to_y, **button)
        self.settle()

    def press(self, key, modifiers=0):
        known = key in KEYS
        text = {} if known and key != "Enter" else {"text": "\r" if key == "Enter" else key}
        code = {"windowsVirtualKeyCode": KEYS[key]} if known else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, **text, **code)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers, **code)
        self.settle()

    def type(self, text):
        self.send("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path, whole=False, clip=None):
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"]}
        more = {"clip": {"scale": 1, **clip}, "captureBeyondViewport": True} if clip else {}
        shot = self.send("Page.captureScreenshot", format=Path(path).suffix[1:], **more)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """Errors and warnings of the page so far."""
        self.run("1")
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(str(params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
        return found

    def requests(self):
        """What the page asked for, beside itself and data in its own text."""
        self.run("1")
        urls = [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent" and event["params"].get("type") != "Document"]
        return [url for url in urls if not url.startswith("data:")]


def start(name, profile):
    """The browser with its debugging pipe: it reads from file descriptor 3 and writes to 4."""
    its_input, to_browser, from_browser, its_output = (above_ten(end) for end in (*os.pipe(), *os.pipe()))

    def as_three_and_four():
        os.dup2(its_input, 3)
        os.dup2(its_output, 4)

    command = [name, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-sandbox",
               "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--mute-audio",
               "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
               "--force-color-profile=srgb", "--lang=en"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=as_three_and_four, close_fds=False)
    os.close(its_input)
    os.close(its_output)
    return process, to_browser, from_browser


def above_ten(descriptor):
    """The same with a number that is not in the way of 3 and 4."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def listen(descriptor, messages):
    rest = b""
    while chunk := os.read(descriptor, 1 << 16):
        *whole, rest = (rest + chunk).split(b"\0")
        for text in whole:
            messages.put(json.loads(text))
    messages.put(None)
