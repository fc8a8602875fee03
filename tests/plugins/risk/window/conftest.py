"""The fixtures of the window's tests."""

from window_fixtures import *  # noqa: F403 - pytest finds fixtures here
