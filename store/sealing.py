"""Secrets at rest: sealed with a key that lies in a file beside the store, never in it."""

import hashlib
import hmac
import json
import os
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken

from store.engine import StoreError


class Sealer:
    def __init__(self, key: bytes) -> None:
        try:
            self._fernet = Fernet(key)
        except ValueError as error:
            raise StoreError("The sealing key is not one: delete its file, then set every channel anew.") from error
        self._key = key

    def seal(self, config: dict[str, Any]) -> bytes:
        return self._fernet.encrypt(json.dumps(config).encode())

    def open(self, sealed: bytes) -> dict[str, Any]:
        try:
            config: dict[str, Any] = json.loads(self._fernet.decrypt(sealed))
        except InvalidToken as error:
            raise StoreError("It was sealed with another key: set the channel anew.") from error
        return config

    def hash(self, text: str) -> str:
        """Equal for equal texts; says nothing about them without the key."""
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def read_sealing_key(path: Path) -> bytes:
    """The key in the file; a file that is missing is made, readable by its owner alone.

    It appears with its content or not at all: the API and the notifier may look for it in the same moment.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as opened:
        opened.write(Fernet.generate_key() + b"\n")
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_bytes().strip()
