"""The fixtures of the commands' tests."""

from command_fixtures import *  # noqa: F403 - pytest finds fixtures here
