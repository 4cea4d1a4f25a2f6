"""Fetches the jars that ivy.xml names, with the Ivy inside PySpark, and holds them to jars.sha256."""

import hashlib
import importlib.util
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from local_stack.errors import StackError
from local_stack.paths import CACHE, HERE


@dataclass(frozen=True)
class JarStore:
    """The jars on disk, in `spark/` and `broker/`, and what they must be."""

    folder: Path = CACHE / "jars"
    ivy_cache: Path = CACHE / "ivy"
    manifest: Path = HERE / "ivy.xml"
    checksums: Path = HERE / "jars.sha256"

    @property
    def spark(self) -> Path:
        return self.folder / "spark"

    @property
    def broker(self) -> Path:
        return self.folder / "broker"

    def is_complete(self) -> bool:
        """Whether a verified set lies here; compares sizes only, as this is asked at every start."""
        stamp = self.folder / "stamp.json"
        return stamp.is_file() and json.loads(stamp.read_text()) == self._stamp(self.folder)

    def fetch(self, java_home: Path) -> None:
        """Bring the set into place; nothing unverified ever lies in `folder`."""
        fresh = self.retrieve(java_home)
        verify(fresh, self.checksums)
        (fresh / "stamp.json").write_text(json.dumps(self._stamp(fresh), indent=1))
        shutil.rmtree(self.folder, ignore_errors=True)
        fresh.replace(self.folder)

    def write_checksums(self, java_home: Path) -> None:
        """Accept what ivy.xml resolves to now as what must be fetched from now on."""
        fresh = self.retrieve(java_home)
        lines = [f"{sha256(path)}  {path.relative_to(fresh).as_posix()}\n" for path in jars_in(fresh)]
        self.checksums.write_text("".join(lines))

    def retrieve(self, java_home: Path) -> Path:
        fresh = self.folder.with_name(f"{self.folder.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        run_ivy(java_home, manifest=self.manifest, cache=self.ivy_cache, target=fresh)
        return fresh

    def _stamp(self, folder: Path) -> dict[str, object]:
        asked = hashlib.sha256(self.manifest.read_bytes() + self.checksums.read_bytes()).hexdigest()
        return {
            "asked": asked,
            "sizes": {path.relative_to(folder).as_posix(): path.stat().st_size for path in jars_in(folder)},
        }


def run_ivy(java_home: Path, *, manifest: Path, cache: Path, target: Path) -> None:
    command = [
        str(java_home / "bin" / "java"),
        # Everything Ivy keeps stays in the project, nothing in the home folder.
        f"-Divy.default.ivy.user.dir={cache}",
        *("-cp", str(ivy_jar()), "org.apache.ivy.Main"),
        *("-ivy", str(manifest), "-cache", str(cache), "-confs", "spark", "broker"),
        *("-types", "jar", "bundle"),
        *("-retrieve", f"{target}/[conf]/[artifact]-[revision].[ext]"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        last_lines = "\n".join(done.stdout.splitlines()[-25:] + done.stderr.splitlines()[-5:])
        raise StackError(f"The jars could not be fetched; is the network reachable? Ivy's last lines:\n{last_lines}")


def ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise StackError("PySpark is not installed in this Python; start with: make demo")
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))


def verify(folder: Path, checksums: Path) -> None:
    """Raise unless `folder` holds exactly the jars that `checksums` names, each with its sum."""
    expected = {name: digest for digest, name in (line.split() for line in checksums.read_text().splitlines())}
    found = {path.relative_to(folder).as_posix(): path for path in jars_in(folder)}
    wrong = [
        *(f"{name} is missing." for name in sorted(expected.keys() - found.keys())),
        *(f"{name} is not named in {checksums.name}." for name in sorted(found.keys() - expected.keys())),
        *(
            f"{name} has another content than {checksums.name} says."
            for name in sorted(expected.keys() & found.keys())
            if sha256(found[name]) != expected[name]
        ),
    ]
    if wrong:
        raise StackError("The jars are not the expected ones, so nothing was started. " + " ".join(wrong))


def jars_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.jar"))


def sha256(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
