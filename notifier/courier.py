"""Runs Apprise, each message in a process of its own, which can be ended and which connects to no forbidden address.

Apprise has more than a hundred plugins. They look names up in threads of their own, take proxies from the environment,
and some have time-outs of their own or none. In a process of its own all that is held at one place: the moment of
connecting, by way of Python's audit hook, which no library in Python can go around.
"""

import logging
import multiprocessing
import os
import sys
from collections.abc import Sequence
from ipaddress import ip_address
from multiprocessing.connection import Connection
from typing import Any

from notifier.targets import Network, permitted, refusal

CONTEXT = multiprocessing.get_context("forkserver")
# Loaded once, in the process from which the couriers are forked.
CONTEXT.set_forkserver_preload(["notifier.courier", "notifier.plugins"])
CONNECTING = ("socket.connect", "socket.sendto", "socket.sendmsg")
PROGRAMS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "pty.spawn")
# Whom to trust.
KEPT = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
NOT_TAKEN = "Apprise could not deliver it"
UNKNOWN = "Apprise does not know this kind of address, or something in it is wrong"
Answer = tuple[str, str]


def send(url: str, title: str, text: str, allowed: Sequence[Network], timeout_s: float) -> Answer:
    """(outcome, reason); the outcome is `taken`, `refused` or `forbidden`. Raises TimeoutError."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    courier = CONTEXT.Process(target=deliver, args=(theirs, url, title, text, list(allowed)), daemon=True)
    courier.start()
    theirs.close()
    try:
        if not ours.poll(timeout_s):
            raise TimeoutError
        answer: Answer = ours.recv()
    except EOFError:
        return "refused", NOT_TAKEN
    finally:
        courier.kill()
        courier.join()
        courier.close()
        ours.close()
    return answer


def deliver(answer: Connection, url: str, title: str, text: str, allowed: Sequence[Network]) -> None:
    """In the process of its own."""
    import apprise  # noqa: PLC0415 (not in the notifier itself)

    forget_environment()
    logging.disable()
    forbidden = guard(allowed)
    target = apprise.Apprise()
    if not target.add(url):
        answer.send(("refused", UNKNOWN))
    elif target.notify(body=text, title=title, body_format="text"):
        answer.send(("taken", ""))
    else:
        answer.send(("forbidden", forbidden[0]) if forbidden else ("refused", NOT_TAKEN))


def forget_environment() -> None:
    """What stands in it is the notifier's: its secrets, passwords by host, and proxies, which would look names up."""
    for name in set(os.environ) - set(KEPT):
        del os.environ[name]
    os.environ["HOME"] = os.devnull


def guard(allowed: Sequence[Network]) -> list[str]:
    """From now on, and for as long as it lives, this process connects only where that is allowed; what was not."""
    forbidden: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        why = None
        if event in PROGRAMS:
            why = "it starts a program of this machine"
        elif event in CONNECTING:
            why = refused(arguments[-1], allowed)
        if why is not None:
            forbidden.append(why)
            raise PermissionError(why)

    sys.addaudithook(hook)
    return forbidden


def refused(address: object, allowed: Sequence[Network]) -> str | None:
    """A name is refused too: it would be looked up between the look and the leap."""
    if address is None:
        # A datagram on a socket that is connected, which was looked at then.
        return None
    host = address[0] if isinstance(address, tuple) else None
    try:
        ip_address(str(host).partition("%")[0])
    except ValueError:
        return "it speaks to something other than an address"
    return None if permitted(str(host), allowed) else refusal(str(host))
