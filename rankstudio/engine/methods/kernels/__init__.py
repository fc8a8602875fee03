"""Kernels: functions of two documents, the maps and the linear systems that learn with them."""
