"""Papers are made again with the lab, whose folder may be absent."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("rankstudio.plugins.lab") else ["*.py", "window/*.py"]
