"""`make bench`: runs every benchmark on a broker of its own, prints the tables, writes benchmarks/results.md."""

import logging
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks import api, delay, page, rates, scale, simulator
from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.java import find_java_home
from local_stack.paths import CACHE, ROOT
from local_stack.topics import make_topics
from streaming.session import start_session
from streaming.settings import Settings

RESULTS = Path(__file__).parent / "results.md"


def main() -> None:
    logging.getLogger("kafka").setLevel(logging.ERROR)
    began = time.monotonic()
    java_home, jars = find_java_home(CACHE), JarStore()
    if not jars.is_complete():
        jars.fetch(java_home)
    os.environ["JAVA_HOME"] = str(java_home)
    RESULTS.write_text("\n".join(("# What it does on one machine", "", *machine(), "Compare ratios, not figures.", "")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with broker(folder / "rates", java_home, jars) as servers:
            report("Fixes a second", rates_table(servers, folder, jars))
        with broker(folder / "delay", java_home, jars) as servers, spark_job(servers, folder, jars) as job:
            report("From fix to alert", delay.table(servers))
            report("Memory", memory(job))
        with broker(folder / "simulator", java_home, jars) as servers:
            report("The simulator", simulator.table(servers).splitlines())
    report("What a fix costs the engine", scale.table())
    report(f"The API at {api.TRUCKS:,} trucks", api.table())
    report("The page, in Chromium without a GPU", page.table())
    print(f"written to {RESULTS.relative_to(ROOT)}, after {time.monotonic() - began:.0f} s")


def report(title: str, lines: list[str]) -> None:
    """To the screen and to the file at once: what is measured is not lost with what comes after it."""
    text = "\n".join(("", f"## {title}", *lines, ""))
    print(text, flush=True)
    with RESULTS.open("a") as results:
        results.write(text)


def machine() -> list[str]:
    cores, memory_gb = psutil.cpu_count(), psutil.virtual_memory().total / 1024**3
    system = f"{platform.system()} {platform.machine()}"
    return [f"{system}, {cores} cores, {memory_gb:.0f} GB, Python {platform.python_version()}."]


@contextmanager
def broker(folder: Path, java_home: Path, jars: JarStore) -> Iterator[str]:
    with Cluster(java_home=java_home, jars=jars.broker, data=folder / "data", logs=folder / "logs") as cluster:
        make_topics(cluster.bootstrap_servers)
        yield cluster.bootstrap_servers


def rates_table(servers: str, folder: Path, jars: JarStore) -> list[str]:
    chosen = {"bootstrap_servers": servers, "jars_dir": jars.spark, "checkpoint_dir": folder / "checkpoints"}
    settings = Settings.model_validate(chosen)
    session = start_session(settings)
    try:
        return rates.table(session, settings, folder / "checkpoints")
    finally:
        session.stop()


@contextmanager
def spark_job(servers: str, folder: Path, jars: JarStore) -> Iterator[psutil.Process]:
    env = {
        **os.environ,
        "STREAMING_BOOTSTRAP_SERVERS": servers,
        "STREAMING_CHECKPOINT_DIR": str(folder / "job"),
        "STREAMING_JARS_DIR": str(jars.spark),
    }
    with (folder / "job.log").open("wb") as log:
        job = subprocess.Popen([sys.executable, "-m", "streaming"], env=env, cwd=ROOT, stdout=log, stderr=log)
    try:
        yield psutil.Process(job.pid)
    finally:
        job.terminate()
        job.wait(timeout=60)


def memory(job: psutil.Process) -> list[str]:
    """What the Spark job takes after that: the JVM, and its Python processes."""
    sizes = {True: 0.0, False: 0.0}
    for process in [job, *job.children(recursive=True)]:
        sizes["java" in process.name()] += process.memory_info().rss / 1024**2
    return [f"The Spark job: JVM {sizes[True]:,.0f} MB, its Python processes {sizes[False]:,.0f} MB."]


if __name__ == "__main__":
    main()
