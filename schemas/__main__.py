"""`python -m schemas`: write the JSON Schema files from the models."""

import json
from pathlib import Path

from schemas.models import CONTRACT, Record

FOLDER = Path(__file__).parent / "json"


def as_text(model: type[Record]) -> str:
    return json.dumps(model.model_json_schema(mode="validation"), indent=2) + "\n"


if __name__ == "__main__":
    for name, model in CONTRACT.items():
        (FOLDER / f"{name}.schema.json").write_text(as_text(model))
