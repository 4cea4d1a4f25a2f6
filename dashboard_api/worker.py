"""A thread that works until it is stopped: what fails is said once, and tried again."""

import logging
from abc import ABC, abstractmethod
from threading import Event, Thread

from kafka.errors import KafkaError
from sqlalchemy.exc import SQLAlchemyError

from dashboard_api.health import Health

log = logging.getLogger(__name__)
RETRY_S = 1.0


class Worker(ABC):
    """`part` names it in `/readyz`, where it counts from its start on."""

    def __init__(self, part: str, health: Health) -> None:
        self._part = part
        self._health = health
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=part, daemon=True)
        health.troubles[part] = "not started yet"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=10)

    @abstractmethod
    def work(self) -> None:
        """Go on until `self._stopping`; raise when it cannot."""

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.work()
            except (KafkaError, SQLAlchemyError, OSError) as error:
                self._fails(brief(error))
            except Exception as error:
                log.exception("%s failed, and starts again", self._part)
                self._fails(brief(error))
            self._stopping.wait(RETRY_S)

    def _works(self) -> None:
        if self._health.troubles[self._part]:
            log.info("%s works", self._part)
        self._health.troubles[self._part] = ""

    def _fails(self, trouble: str) -> None:
        if trouble != self._health.troubles[self._part]:
            log.warning("%s does not work, trying again: %s", self._part, trouble)
        self._health.troubles[self._part] = trouble


def brief(error: Exception) -> str:
    """One line, without the statement and the values that SQLAlchemy adds."""
    return f"{type(error).__name__}: {str(error).split('[SQL:', maxsplit=1)[0].strip()}"[:300]
