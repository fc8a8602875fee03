"""Models of every kind, learned on MQ2008 and on data with many ties."""

from model_fixtures import *  # noqa: F403 - pytest finds fixtures here
