"""A scheduler with two workers."""

from experiment.cluster_fixture import *  # noqa: F403 - pytest finds fixtures here
