#!/usr/bin/env python3
"""Shell completion and the manual page, which are made from the table of commands."""
import re
import shutil
import subprocess
import unittest

from support import TytoTest


class Completion(TytoTest):
    def options_of(self, command):
        return set(re.findall(r"(?m)^  (?:-h, )?(--[\w-]+)", self.succeed(command, "--help")))

    def commands(self):
        return re.findall(r"^  (\w+) +[A-Z]", self.succeed("--help").split("Commands:")[1], re.MULTILINE)

    def completed(self, *words):
        self.write("tyto.bash", self.succeed("completion", "bash"))
        script = f'source ./tyto.bash; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _tyto; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(set(self.completed("tyto", "''")) - {"--help", "--version"}, set(self.commands()))
        self.assertEqual(self.completed("tyto", "pre"), ["predict"])
        for command in self.commands():
            self.assertEqual(set(self.completed("tyto", command, "--")), self.options_of(command))
        self.assertEqual(self.completed("tyto", "fit", "--weights", "l"), ["lasso", "linf", "linear"])
        self.assertEqual(self.completed("tyto", "cv", "--missing", "drop"), ["drop-rows", "drop-columns"])
        self.write("data.csv", "a,y\n1,2\n")
        self.assertEqual(self.completed("tyto", "fit", "da"), ["data.csv"])

    def test_other_shells(self):
        for shell, check in (("zsh", ["-n"]), ("fish", ["--no-execute"])):
            text = self.succeed("completion", shell)
            for command in self.commands():
                for option in self.options_of(command):
                    self.assertIn(option if shell == "zsh" else f"-l {option[2:]}", text)
            if shutil.which(shell):
                self.write("script", text)
                subprocess.run([shell, *check, "script"], cwd=self.folder, check=True)

    def test_manual(self):
        text = self.succeed("completion", "man")
        for command in self.commands():
            self.assertIn(f".SS tyto {command}\n", text)
            for option in self.options_of(command):
                self.assertIn(option.replace("-", "\\-"), text)
        if shutil.which("groff"):
            self.write("tyto.1", text)
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "tyto.1"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("OWL regression with certificates", done.stdout)

    def test_mistakes(self):
        code, out, err = self.run_tyto("completion", "tcsh")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("KIND", err)


if __name__ == "__main__":
    unittest.main()
