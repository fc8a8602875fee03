"""The fixtures of the commands' tests; those of plug-ins have them, too."""

from command_fixtures import *  # noqa: F403 - pytest finds fixtures here
