"""Papers are made again with other abilities, whose folders may be absent."""

from importlib.util import find_spec

_THERE = find_spec("rankstudio.plugins.features") and find_spec("rankstudio.plugins.lab")
collect_ignore_glob = [] if _THERE else ["*.py", "window/*.py"]
