"""The whole system on one machine: starts every part in order, watches them, stops them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from local_stack import notifications
from local_stack.answers import KEY_FILE, ask, get, key_in, login_link
from local_stack.broker import Cluster
from local_stack.checks import check_port, check_room
from local_stack.errors import StackError
from local_stack.interrupts import ignore_signals, interrupt_on_signals, only_one
from local_stack.jars import JarStore
from local_stack.java import find_java_home
from local_stack.paths import CACHE, ROOT
from local_stack.ports import HOST, free_ports, is_taken
from local_stack.process import Child
from local_stack.progress import step
from local_stack.settings import Settings
from local_stack.topics import make_topics

READY_TIMEOUT_S = 180.0
WATCH_S = 0.5
SEALING_KEY_FILE = "sealing.key"
RECEIVER_FILE = "receiver.secret"


def run(settings: Settings, *, kafka_only: bool = False) -> None:
    """Return when the operator ends it; raise when a part fails. Either way nothing is left running."""
    interrupt_on_signals()
    demo = Demo(settings)
    try:
        with only_one(settings.data_dir):
            ready = demo.start_kafka() if kafka_only else demo.start()
            print(f"{ready} (Ctrl-C stops everything)", flush=True)
            demo.watch()
    except KeyboardInterrupt:
        print("\nstopping", flush=True)
    finally:
        ignore_signals()
        demo.stop()


class Demo:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._data = settings.data_dir.resolve()
        self._logs = self._data / "logs"
        self._jars = JarStore()
        self._java_home = Path()
        self._bootstrap_servers = ""
        self._cluster: Cluster | None = None
        self._children: list[Child] = []
        self._started_s = 0.0

    def start(self) -> str:
        """Everything; says where the dashboard is."""
        check_port(self._settings.dashboard_port)
        self.start_kafka()
        with step("Starting the Spark job, the dashboard and the simulator"):
            streaming, api = self._start_processes()
            api.wait_until(self._api_is_ready, timeout_s=READY_TIMEOUT_S, others=self._watched)
        with step("Starting the notifier and a receiver for its webhooks"):
            receiver_port = self._start_notifying()
        with step("Drawing the fences of the simulated depots and customers"):
            self._draw_fences()
        with step("Waiting for the first of the trucks"):
            streaming.wait_until(self._trucks_move, timeout_s=READY_TIMEOUT_S, others=self._watched)
        print(f"notifications at http://{HOST}:{receiver_port}/ and in {self._data / 'notifications'}")
        return f"dashboard at {login_link(self._settings.dashboard_port, key_in(self._data))}"

    def start_kafka(self) -> str:
        """The broker(s) with all topics; says where they are."""
        check_room(self._data, self._settings.brokers)
        with step("Looking for Java"):
            self._java_home = find_java_home(CACHE)
        if not self._jars.is_complete():
            with step("Fetching the jars of Kafka and of Spark's Kafka connector (60 MB, once)"):
                self._jars.fetch(self._java_home)
        self._start_cluster()
        with step("Making the topics"):
            make_topics(self._bootstrap_servers)
        return f"Kafka at {self._bootstrap_servers}"

    def watch(self) -> None:
        """Until a part ends, which is an error, or a signal comes."""
        while True:
            for child in self._watched:
                child.fail_if_dead()
            time.sleep(WATCH_S)

    def stop(self) -> None:
        # Kafka goes last: the others write what they hold before they end.
        for child in self._children:
            child.ask_to_stop()
        for child in self._children:
            child.stop()
        if self._cluster is not None:
            self._cluster.stop()

    @property
    def _watched(self) -> list[Child]:
        return [*self._children, *(self._cluster.children if self._cluster is not None else [])]

    def _start_cluster(self) -> None:
        wanted = self._settings.kafka_port
        self._cluster = Cluster(
            java_home=self._java_home,
            jars=self._jars.broker,
            data=self._data / "kafka",
            logs=self._logs,
            brokers=self._settings.brokers,
            first_port=wanted,
        )
        self._bootstrap_servers = self._cluster.bootstrap_servers
        if self._cluster.nodes[0].port != wanted:
            print(f"Port {wanted} or one after it is taken, so Kafka gets another.")
        with step(f"Starting {self._settings.brokers} Kafka broker(s) at {self._bootstrap_servers}"):
            self._cluster.start()

    def _start_processes(self) -> tuple[Child, Child]:
        """All at once: each waits for what it needs, and none needs another to start."""
        self._started_s = time.monotonic()
        streaming = self._start_process(
            "streaming",
            JAVA_HOME=str(self._java_home),
            # Spark's workers must run in this Python, not in whichever one is first on the PATH.
            PYSPARK_PYTHON=sys.executable,
            STREAMING_JARS_DIR=str(self._jars.spark),
            STREAMING_CHECKPOINT_DIR=str(self._data / "checkpoints"),
            STREAMING_BOOTSTRAP_SERVERS=self._bootstrap_servers,
        )
        api = self._start_process(
            "dashboard_api",
            DASHBOARD_HOST=HOST,
            DASHBOARD_PORT=str(self._settings.dashboard_port),
            DASHBOARD_BOOTSTRAP_SERVERS=self._bootstrap_servers,
            DASHBOARD_STORE_URL=f"sqlite:///{self._data / 'dashboard.db'}",
            DASHBOARD_ADMIN_KEY_FILE=str(self._data / KEY_FILE),
            DASHBOARD_SEALING_KEY_FILE=str(self._data / SEALING_KEY_FILE),
        )
        self._start_process(
            "simulator",
            SIMULATOR_TRUCKS=str(self._settings.trucks),
            SIMULATOR_BOOTSTRAP_SERVERS=self._bootstrap_servers,
        )
        return streaming, api

    def _start_notifying(self) -> int:
        """After its channels are set, so that the notifier does not set its own; the receiver's port."""
        wanted = self._settings.receiver_port
        port = free_ports(1)[0] if is_taken(wanted) else wanted
        secret_file = self._data / RECEIVER_FILE
        first = not secret_file.exists()
        if first:
            notifications.new_secret(secret_file)
        self._start_process("local_stack.receiver", str(port), str(secret_file))
        secret = secret_file.read_text().strip()
        notifications.set_up(self._settings.dashboard_port, key_in(self._data), port, secret, first=first)
        self._start_process(
            "notifier",
            NOTIFIER_BOOTSTRAP_SERVERS=self._bootstrap_servers,
            NOTIFIER_STORE_URL=f"sqlite:///{self._data / 'dashboard.db'}",
            NOTIFIER_SEALING_KEY_FILE=str(self._data / SEALING_KEY_FILE),
            NOTIFIER_FILES_DIR=str(self._data / "notifications"),
            NOTIFIER_PAGE_URL=f"http://{HOST}:{self._settings.dashboard_port}",
            # The receiver is on this machine, and speaks plain http.
            NOTIFIER_ALLOWED_RANGES=f"{HOST}/32",
            NOTIFIER_ALLOW_HTTP="true",
        )
        return port

    def _start_process(self, package: str, *arguments: str, **settings: str) -> Child:
        env = {**os.environ, "PYTHONUNBUFFERED": "1", **settings}
        # Another Spark on this machine must not be mixed with the one that is installed here.
        env.pop("SPARK_HOME", None)
        command = [sys.executable, "-m", package, *arguments]
        child = Child(package, command, output=self._logs / f"{package}.log", env=env)
        self._children.append(child)
        child.start()
        return child

    def _draw_fences(self) -> None:
        """Through the API, as anybody would; fences that are there already stay as they are."""
        command = [sys.executable, "-m", "simulator", "fences"]
        drawn = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if drawn.returncode != 0:
            raise StackError(f"The simulator has no fences to draw:\n{drawn.stderr}")
        port, key = self._settings.dashboard_port, key_in(self._data)
        if ask("POST", port, "/api/fences/import?existing=skip", key, json.loads(drawn.stdout)) is None:
            raise StackError(f"The dashboard did not take the fences; {self._logs / 'dashboard_api.log'} says why.")

    def _api_is_ready(self) -> bool:
        return get(self._settings.dashboard_port, "/readyz") is not None

    def _trucks_move(self) -> bool:
        """Whether a fix of this run is shown; on kept data there are trucks of the last one at once."""
        running_s = time.monotonic() - self._started_s
        answer = get(self._settings.dashboard_port, "/api/trucks?limit=1000", key_in(self._data))
        return answer is not None and any(truck["age_s"] < running_s for truck in answer["items"])
