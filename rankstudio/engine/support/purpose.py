"""What this process is for, which decides what its methods need of other libraries."""

from __future__ import annotations


class Purpose:
    """What a process says of itself before it imports a method.

    Attributes
    ----------
    only_plans : bool
        Whether methods are met through plans alone, as in the window and in a run's workers: then they are
        nobody's estimators of scikit-learn.
    """

    only_plans = False


PURPOSE = Purpose()
