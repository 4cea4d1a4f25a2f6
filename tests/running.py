"""A part of the product as a process: started, killed, started again, stopped."""

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


class Running:
    """`python -m package`. `log` keeps what it says over all its starts; `told` its standard output, where apart."""

    def __init__(self, package: str, log: Path, settings: dict[str, str], told: Path | None = None) -> None:
        self._package = package
        self._log = log
        self._told = told or log
        self._env = os.environ | settings
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def output(self) -> str:
        return self._log.read_text()

    @property
    def ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def start(self) -> None:
        with self._told.open("ab") as told, self._log.open("ab") as log:
            command = [sys.executable, "-m", self._package]
            self.process = subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=told, stderr=log)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Its exit code, also where it has ended already."""
        assert self.process is not None
        if not self.ended:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)
