"""Ctrl-C: once, and the best result so far is written with its certificate; twice, and the program ends."""
import json
import signal
import subprocess
import time
import unittest
from pathlib import Path

from support import PROGRAM, TIMEOUT, TytoTest

# No tolerance is met with such steps, however fast the machine.
ENDLESS = ["--tolerance", "1e-15", "--screening", "none", "--solver", "spgd", "--step-size", "1e-9"]


def catches_interrupts(pid):
    """True from when the fit begins: before, and after a first one, an interrupt ends the program."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) & 1 << (signal.SIGINT - 1))
    return False


@unittest.skipUnless(Path("/proc/self/status").exists(), "needs /proc to see when the fit has begun")
class Interrupt(TytoTest):
    def setUp(self):
        super().setUp()
        self.succeed("simulate", "--rows", "100", "--cols", "500", "--output", "d.csv")
        self.write("model.json", "old")

    def start(self, command, *args):
        process = subprocess.Popen([PROGRAM, command, "d.csv", *ENDLESS, "--model", "model.json", *args],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_until(process, True)
        return process

    def wait_until(self, process, catches):
        end = time.monotonic() + TIMEOUT
        while catches_interrupts(process.pid) != catches:
            self.assertIsNone(process.poll(), "the program ended by itself")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def interrupted(self, *args):
        process = self.start(*args, "--json", "result.json")
        time.sleep(0.3)  # some epochs
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, err), (130, ""))
        return out

    def test_path(self):
        """The first strength needs no step, the second one has no end."""
        out = self.interrupted("path", "--report", "report.html")
        self.assertIn("stopped by interrupt after 2 of 100 strengths", out)
        result = json.loads(self.read("result.json"))
        self.assertEqual((result["stopped_by"], len(result["fits"])), ("interrupt", 2))
        self.assertEqual(result["fits"][1]["status"], "interrupted")
        self.assertIn('"stopped_by":"interrupt"', self.read("report.html"))
        self.assertIn("2 of 2 certificates hold", self.succeed("verify", "model.json", "d.csv"))

    def test_once(self):
        out = self.interrupted("fit", "--strength", "0.01")
        self.assertIn("interrupted: relative gap", out)
        result, model = json.loads(self.read("result.json")), json.loads(self.read("model.json"))
        self.assertEqual((result["status"], model["status"]), ("interrupted", "interrupted"))
        self.assertGreater(result["relative_gap"], 1e-15)
        self.assertIn("the certificate holds", self.succeed("verify", "model.json", "d.csv"))

    def test_twice(self):
        endless_epoch = ["--batch", "1", "--inner-steps", "1000000000"]
        process = self.start("fit", "--strength", "0.01", *endless_epoch)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.wait_until(process, False)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, out, err), (-signal.SIGINT, "", ""))
        self.assertEqual(self.read("model.json"), "old")


if __name__ == "__main__":
    unittest.main()
