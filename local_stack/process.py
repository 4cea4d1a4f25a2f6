"""A child process in a session of its own: started, watched until it answers, and stopped with all it started."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from local_stack.errors import StackError
from local_stack.paths import ROOT

POLL_S = 0.1
STOP_TIMEOUT_S = 15.0
LEFTOVERS_TIMEOUT_S = 5.0
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class Child:
    """One program, its output in `output`; `log` is where it writes its own log, if it does."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        output: Path,
        log: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._command = command
        self._output = output
        self._log = log
        self._env = env
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._output.parent.mkdir(parents=True, exist_ok=True)
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                self._command,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env=self._env,
                start_new_session=True,
                # One system call that takes no lock, so other threads do not matter.
                preexec_fn=end_with_parent if LIBC is not None else None,  # noqa: PLW1509
            )

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process is not None else None

    def fail_if_dead(self) -> None:
        if self.exit_code is not None:
            raise StackError(f"{self.name} ended with exit code {self.exit_code}. Its last lines:\n{self.last_lines()}")

    def wait_until(self, answers: Callable[[], bool], *, timeout_s: float, others: "Sequence[Child]" = ()) -> None:
        """Return as soon as `answers()`; raise with the last lines of the log if a process ends or time is up."""
        deadline = time.monotonic() + timeout_s
        while not answers():
            for child in (self, *others):
                child.fail_if_dead()
            if time.monotonic() > deadline:
                raise StackError(
                    f"{self.name} was not ready within {timeout_s:.0f} s. Its last lines:\n{self.last_lines()}"
                )
            time.sleep(POLL_S)

    def last_lines(self, count: int = 20) -> str:
        paths = [path for path in (self._log, self._output) if path is not None and path.is_file()]
        return "\n".join(f"  {line}" for path in paths for line in tail(path, count)) or "  (it wrote nothing)"

    def ask_to_stop(self) -> None:
        """SIGTERM to the program alone: it ends what it started itself, in its own order."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Ask, wait, then kill what is left of the session."""
        if self._process is None:
            return
        self.ask_to_stop()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        end_session(self._process.pid)


def end_with_parent() -> None:
    """Runs in the child before its program does: should we be killed outright, Linux asks it to end."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def end_session(session: int) -> None:
    """End what a program left behind; by session, since Spark's Python workers form a process group of their own."""
    left = session_members(session)
    _, stubborn = psutil.wait_procs(left, timeout=LEFTOVERS_TIMEOUT_S)
    for process in {*stubborn, *session_members(session)}:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue


def session_members(session: int) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if session_of(process.pid) == session]


def session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def tail(path: Path, count: int) -> list[str]:
    """The last lines, read from the last 64 KB so that a large log costs nothing."""
    with path.open("rb") as opened:
        opened.seek(max(0, path.stat().st_size - 65_536))
        return opened.read().decode(errors="replace").splitlines()[-count:]
