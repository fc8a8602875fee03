"""Record what is shown of the entries of abilities where the folder of an ability is absent.

python packaging/abilities.py    after a change of the methods, formats or commands of rankstudio/plugins
"""

import json
from typing import Any

from rankstudio.engine.data.formats.joined_files import formats_to_record
from rankstudio.engine.methods.catalog.absent import (
    methods_to_record,
    model_formats_to_record,
)
from rankstudio.engine.plugins.terminal_commands import commands_to_record
from rankstudio.engine.support.resources import resource


def record(name: str, values: Any) -> None:
    """Write values into a file of the abilities."""
    text = json.dumps(values, indent=1, ensure_ascii=False)
    resource("abilities", name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    record("methods.json", methods_to_record())
    record("model_formats.json", model_formats_to_record())
    record("data_formats.json", formats_to_record())
    record("commands.json", commands_to_record())
