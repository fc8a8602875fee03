"""The fixtures of the window's tests; those of plug-ins have them, too."""

from window_fixtures import *  # noqa: F403 - pytest finds fixtures here
