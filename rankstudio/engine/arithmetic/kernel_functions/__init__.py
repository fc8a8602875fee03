"""Kernel functions of two documents."""
