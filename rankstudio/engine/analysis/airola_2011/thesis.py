"""All experiments of the thesis that there are data for, in the order of its papers and chapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rankstudio.engine.analysis.airola_2011 import training_growth as growth
from rankstudio.engine.analysis.airola_2011.auc_estimates import auc_estimates
from rankstudio.engine.analysis.airola_2011.experiment import PrintedExperiment
from rankstudio.engine.analysis.airola_2011.held_out_basis import removal_error, removal_time
from rankstudio.engine.analysis.airola_2011.irrelevant_pairs import irrelevant_pairs
from rankstudio.engine.analysis.airola_2011.pair_costs import cost_rows, ohsumed_rows
from rankstudio.engine.analysis.airola_2011.split_queries import split_queries
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.resources import table
from rankstudio.engine.support.threads import STEADY

KEY = "airola-2011"
"""Of the paper in :func:`rankstudio.engine.analysis.reproduction.load_reproduction`."""

_OHSUMED = "ohsumed"


@dataclass(frozen=True)
class Effort:
    """How much is simulated and timed.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of documents to time training with.
    per_query : tuple of int
        Numbers of basis vectors of a query to time their removal with.
    share : float
        Of the repetitions of the simulations of AUC.
    repetitions : int
        Of the simulation of split queries.
    """

    sizes: tuple[int, ...] = growth.SIZES
    per_query: tuple[int, ...] = (1, 2, 3, 4)
    share: float = 1.0
    repetitions: int = 20


Experiment = Callable[[], Sequence[PrintedExperiment]]


def experiments(
    results: Mapping[str, RunResult], dataset: FoldedDataset, effort: Effort | None = None
) -> dict[str, Experiment]:
    """Return what finds each part of the thesis out, by its name.

    Parameters
    ----------
    results : mapping of str to RunResult
        Of the plans that :class:`~rankstudio.engine.analysis.reproduction.Reproduction` has for the data.
    dataset : FoldedDataset
        Its folds have a test part; what needs training data alone has that of the first fold.
    effort : Effort, optional
    """
    how, printed = effort or Effort(), _values()["printed"]
    train = dataset.folds[0].train
    costs = {name: result for name, result in results.items() if name in printed["BioInfer"]}
    found: dict[str, Experiment] = {
        "Paper I, Figure 2": lambda: [irrelevant_pairs()],
        "Paper I, Table 1": lambda: [growth.training_growth(printed["growth"], how.sizes)],
        "Paper I, Tables 2 and 6": lambda: [cost_rows(costs, printed)],
    }
    if dataset.name.lower().startswith(_OHSUMED):
        found["Paper I, Table 3"] = lambda: [ohsumed_rows(results, dataset, printed["Ohsumed"])]
    found |= {
        "Paper III, Figure 1": lambda: [removal_error(train, dataset.name)],
        "Paper III, Tables 1 and 2": lambda: removal_time(
            train, dataset.name, printed["removal"], how.per_query
        ),
        "Section 5.4": lambda: [auc_estimates(how.share)],
        "Section 5.5": lambda: [split_queries(dataset, repetitions=how.repetitions)],
    }
    return {name: partial(_steady, work) for name, work in found.items()}


def absent() -> dict[str, str]:
    """Return what of the thesis has no data here, by its name, each with the reason."""
    return {name: str(why) for name, why in _values()["absent"].items()}


def _values() -> dict[str, Any]:
    return table("published", f"{KEY}.toml")


def _steady(work: Experiment) -> Sequence[PrintedExperiment]:
    """Carry an experiment out on one processor, so that its seconds and its last bits are its own."""
    with STEADY:
        return work()
