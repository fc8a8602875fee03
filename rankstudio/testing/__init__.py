"""Checks for authors of methods, the same that RankStudio's own tests make of every method.

Examples
--------
>>> from rankstudio.engine.methods.catalog import method
>>> from rankstudio.testing import check_method
>>> [check.problem for check in check_method(method("rankrls")) if check.problem]
[]
"""

from __future__ import annotations

from rankstudio.testing.method_checks import MethodCheck as MethodCheck
from rankstudio.testing.method_checks import check_method as check_method
