"""`.env.example` names every setting of every process, with its default and its meaning, and nothing else."""

import itertools
from pathlib import Path

import pytest
from pydantic_settings import BaseSettings, CliApp

import dashboard_api.settings
import local_stack.settings
import notifier.settings
import simulator.settings
import streaming.settings

ROOT = Path(__file__).parents[2]
PROCESSES: dict[str, type[BaseSettings]] = {
    "dashboard_api": dashboard_api.settings.Settings,
    "local_stack": local_stack.settings.Settings,
    "notifier": notifier.settings.Settings,
    "simulator": simulator.settings.Settings,
    "streaming": streaming.settings.Settings,
}


def variables(settings: type[BaseSettings]) -> dict[str, str]:
    """Environment variable → field."""
    prefix = settings.model_config.get("env_prefix", "")
    return {f"{prefix}{field}".upper(): field for field in settings.model_fields}


def example() -> dict[str, tuple[str, str]]:
    """Variable → its value in the example and the comment above it."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    found = {}
    for above, line in itertools.pairwise(lines):
        if line and not line.startswith("#"):
            name, _, value = line.partition("=")
            assert name not in found, f"{name} is there twice"
            found[name] = (value, above.removeprefix("# "))
    return found


def test_the_example_names_exactly_the_settings_that_exist() -> None:
    assert set(example()) == {name for settings in PROCESSES.values() for name in variables(settings)}


@pytest.mark.parametrize("process", PROCESSES)
def test_the_example_shows_the_defaults(process: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = PROCESSES[process]
    monkeypatch.chdir(ROOT)
    for name in example():
        monkeypatch.delenv(name, raising=False)
    defaults = resolved(settings())
    for name in variables(settings):
        monkeypatch.setenv(name, example()[name][0])
    assert resolved(settings()) == defaults


def resolved(settings: BaseSettings) -> dict[str, object]:
    return {name: value.resolve() if isinstance(value, Path) else value for name, value in settings}


def test_the_comment_above_each_variable_is_what_help_says() -> None:
    meanings: dict[str, list[str | None]] = {}
    for settings in PROCESSES.values():
        for name, field in variables(settings).items():
            meanings.setdefault(name, []).append(settings.model_fields[field].description)
    wrong = {name: meaning for name, (_, meaning) in example().items() if meaning not in meanings.get(name, [])}
    assert wrong == {}


@pytest.mark.parametrize("process", PROCESSES)
def test_settings_cannot_be_changed_after_the_start(process: str) -> None:
    assert PROCESSES[process].model_config.get("frozen") is True


@pytest.mark.parametrize("process", ["notifier", "simulator"])
def test_help_explains_every_flag(process: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        CliApp.run(PROCESSES[process], cli_args=["--help"])
    told = " ".join(capsys.readouterr().out.split())
    for name, field in PROCESSES[process].model_fields.items():
        assert f"--{name.replace('_', '-')}" in told
        assert str(field.description).split(",")[0] in told


def test_a_flag_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULATOR_INTERVAL_S", "5")
    assert CliApp.run(simulator.settings.Settings, cli_args=[]).interval_s == 5
    assert CliApp.run(simulator.settings.Settings, cli_args=["--interval-s", "2"]).interval_s == 2


@pytest.mark.parametrize("flags", [["--interval-s", "0"], ["--trucks", "0"], ["--start-time", "2026-01-01T00:00:00"]])
def test_a_value_that_makes_no_sense_is_refused(flags: list[str]) -> None:
    with pytest.raises(ValueError, match=r"1 validation error"):
        CliApp.run(simulator.settings.Settings, cli_args=flags)
