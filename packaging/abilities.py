"""Record what is shown of the methods of abilities where the folder of an ability is absent.

python packaging/abilities.py    after a change of a method of rankstudio/plugins
"""

import json

from rankstudio.engine.methods.catalog.absent import methods_to_record
from rankstudio.engine.support.resources import resource

if __name__ == "__main__":
    text = json.dumps(methods_to_record(), indent=1, ensure_ascii=False)
    resource("abilities", "methods.json").write_text(text + "\n", encoding="utf-8")
