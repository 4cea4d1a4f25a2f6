"""Maintainers' tool: put the page's third-party files under `dashboard_api/static/vendor/`, or `--check` them."""

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).parent.parent / "dashboard_api" / "static" / "vendor"
MANIFEST = VENDOR / "vendor.json"

# package@version → the tarball's integrity, and which of its files are used.
PACKAGES: dict[str, tuple[str, list[str]]] = {
    "leaflet@1.9.4": (
        "sha512-nxS1ynzJOmOlHp+iL3FyWqK89GtNL8U8rvlMOsQdTTssxZwCXh8N2NB3GDQOL+YR3XnWyZAxwQixURb+FA74PA==",
        ["dist/leaflet.js", "dist/leaflet.css", "LICENSE"],
    ),
    "leaflet-editable@1.3.2": (
        "sha512-iDTXR0byKWRiPliNrQrmZtbHHrr/ONZwoFoIzUHP2MQJQwgqzeblc1OKrT0ryOEzf0PFtrClk9SksAbeQpsmXw==",
        # Its licence stands in the README.
        ["src/Leaflet.Editable.js", "README.md"],
    ),
    "lit-html@3.3.3": (
        "sha512-el8M6jK2o3RXBnrSHX3ZKrsN8zEV63pSExTO1wYJz7QndGYZ8353e2a5PPX+qHe2aGayfnchQmkAojaWAREOIA==",
        ["lit-html.js", "directive.js", "directive-helpers.js", "directives/repeat.js", "LICENSE"],
    ),
    "topojson-client@3.1.0": (
        "sha512-605uxS6bcYxGXw9qi62XyrV6Q3xwbndjachmNxu8HWTtVPxZfEJN9fd/SZS1Q54Sn2y0TMyMxFj/cJINqGHrKw==",
        ["dist/topojson-client.min.js", "LICENSE"],
    ),
    "uplot@1.6.32": (
        "sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==",
        ["dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE"],
    ),
    "us-atlas@3.0.1": (
        "sha512-wEIZCq0ImPvGblTd8gZMqNNCPkQshugMUG/8nkSWXb02+XqNFREg9atHOKP9w6prLZTpqcLhSvdBW81MkV3/0Q==",
        ["states-10m.json", "LICENSE"],
    ),
}


def integrity(content: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


def fetch(package: str, folder: Path) -> Path:
    """The package's tarball, as the configured npm registry gives it."""
    subprocess.run(["npm", "pack", "--silent", "--pack-destination", str(folder), package], check=True)
    return next(folder.glob("*.tgz"))


def unpack(package: str) -> None:
    expected, wanted = PACKAGES[package]
    with tempfile.TemporaryDirectory() as folder:
        tarball = fetch(package, Path(folder))
        if integrity(tarball.read_bytes()) != expected:
            sys.exit(f"{package}: the tarball is not the pinned one")
        target = VENDOR / package.partition("@")[0]
        target.mkdir(parents=True, exist_ok=True)
        with tarfile.open(tarball) as archive:
            for name in wanted:
                member = archive.extractfile(f"package/{name}")
                if member is None:
                    sys.exit(f"{package}: {name} is not a file")
                place = target / name.removeprefix("dist/").removeprefix("src/")
                place.parent.mkdir(exist_ok=True)
                place.write_bytes(member.read())


def hashes() -> dict[str, str]:
    files = sorted(path for path in VENDOR.rglob("*") if path.is_file() and path != MANIFEST)
    return {path.relative_to(VENDOR).as_posix(): integrity(path.read_bytes()) for path in files}


def drift() -> list[str]:
    """The files that are missing, changed or not in the manifest."""
    expected, found = json.loads(MANIFEST.read_text()), hashes()
    return sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only verify the committed files against vendor.json")
    if not parser.parse_args().check:
        for package in PACKAGES:
            unpack(package)
        MANIFEST.write_text(json.dumps(hashes(), indent=2) + "\n")
    if drifted := drift():
        sys.exit("differs from vendor.json: " + ", ".join(drifted))


if __name__ == "__main__":
    main()
