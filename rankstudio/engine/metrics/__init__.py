"""Ranking measures under named conventions.

The catalogues (``conventions``, ``names``) can be read without
importing the compiled kernels.
"""
