"""Where things lie on disk: what is fetched (cache) and what is made while running (data)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "local_stack"
CACHE = ROOT / ".cache"
DATA = ROOT / ".data"
