"""Papers are made again with the lab and with kernels, whose folders may be absent."""

from importlib.util import find_spec

needed = "rankstudio.plugins.lab", "rankstudio.plugins.kernels"
collect_ignore_glob = [] if all(map(find_spec, needed)) else ["*.py", "window/*.py"]
