"""Names that plug-ins and programs import to add methods, measures and data formats.

Everything here is documented and stable within a version of the
interface, ``API``. A plug-in names the version that it is written for
(``Plugin(api=1)``); a later RankStudio with the same version runs it
unchanged. What is not here may change with every release.

Built-in selectors use nothing else of the engine, except for arithmetic
of their own: a test checks this. They import these names from the
modules of the engine, because the engine does not import this module.

A method without a package needs nothing of this module: a class with
``fit(X, y)``, or a function ``scores(X, y, qid)`` in a Python file, is
enough.

Attributes
----------
API : int
    Version of the interface.

Examples
--------
>>> from rankstudio.api import Method, Plugin
>>> PLUGIN = Plugin(name="example", methods=())
>>> PLUGIN.api
1

Parameters that several methods have, the usual criterion, and limits:

>>> from rankstudio.api import BUDGET, LEAVE_QUERY_OUT, MEASURE, RANKING_LAMBDA, SCORE_COSTS, SIZE
>>> [p.name for p in (RANKING_LAMBDA, SIZE, SCORE_COSTS, BUDGET, MEASURE)]
['regularization', 'n_features_to_select', 'costs', 'budget', 'measure']
>>> LEAVE_QUERY_OUT
Criterion(name='leave-query-out error per document', per_document=True, measured=False)
>>> from rankstudio.api import API, DEFAULT_CONVENTION, MOST_SEED, NUMBER, PAIRS
>>> API, DEFAULT_CONVENTION, MOST_SEED, NUMBER, PAIRS
(1, 'standard', 4294967295, 8.0, 256)

Types for annotations:

>>> from rankstudio.api import Bools, Compared, Floats, GivenData, Ints, LabelPaths, OwnValues, Share, Waiting
>>> def order(X: Floats, allowed: Bools) -> Ints:
...     return (X.sum(axis=0) * allowed).argsort()
>>> def compared(data: GivenData) -> Compared: ...
>>> def paths(share: Share, own: OwnValues) -> LabelPaths | None: ...
>>> from rankstudio.api import WorkProgress
>>> def counting() -> Waiting[int]:
...     yield WorkProgress("counting", 0.5)
...     return 42

The decorator of functions of a module that are compiled at their first call, and kept
on disk:

>>> from rankstudio.api import kernel
>>> callable(kernel)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstudio.engine.analysis.catalog_analyses.plugin_analysis import (
        analyse as analyse,
    )
    from rankstudio.engine.arithmetic.magnitude import check_rows as check_rows
    from rankstudio.engine.arithmetic.pair_cost.cost import PairCost as PairCost
    from rankstudio.engine.arithmetic.query_data import QueryData as QueryData
    from rankstudio.engine.arithmetic.query_data import (
        several_queries as several_queries,
    )
    from rankstudio.engine.arithmetic.shared import once as once
    from rankstudio.engine.arrays import Bools as Bools
    from rankstudio.engine.arrays import Floats as Floats
    from rankstudio.engine.arrays import Ints as Ints
    from rankstudio.engine.data.data_format import DataBlock as DataBlock
    from rankstudio.engine.data.data_format import DataFormat as DataFormat
    from rankstudio.engine.errors import Cancelled as Cancelled
    from rankstudio.engine.errors import DatasetError as DatasetError
    from rankstudio.engine.errors import ParameterError as ParameterError
    from rankstudio.engine.errors import RankStudioError as RankStudioError
    from rankstudio.engine.errors import between as between
    from rankstudio.engine.export.plugin_formats import ModelFormatEntry as ModelFormat  # noqa: F401
    from rankstudio.engine.language import tr as tr
    from rankstudio.engine.methods.base import MOST_SEED as MOST_SEED
    from rankstudio.engine.methods.base import LinearRanker as LinearRanker
    from rankstudio.engine.methods.base import prices_of as prices_of
    from rankstudio.engine.methods.capabilities import Capabilities as Capabilities
    from rankstudio.engine.methods.capabilities import Compared as Compared
    from rankstudio.engine.methods.capabilities import (
        ComparedByQuery as ComparedByQuery,
    )
    from rankstudio.engine.methods.capabilities import ExactExchange as ExactExchange
    from rankstudio.engine.methods.capabilities import (
        FeaturePenalties as FeaturePenalties,
    )
    from rankstudio.engine.methods.capabilities import GradeDensities as GradeDensities
    from rankstudio.engine.methods.capabilities import LabelPaths as LabelPaths
    from rankstudio.engine.methods.capabilities import PathsFromSums as PathsFromSums
    from rankstudio.engine.methods.capabilities import QueryErrors as QueryErrors
    from rankstudio.engine.methods.capabilities import Share as Share
    from rankstudio.engine.methods.capabilities import StepTest as StepTest
    from rankstudio.engine.methods.catalog import Kind as Kind
    from rankstudio.engine.methods.catalog import Method as Method
    from rankstudio.engine.methods.catalog import Parameter as Parameter
    from rankstudio.engine.methods.catalog.analysis import Analysis as Analysis
    from rankstudio.engine.methods.catalog.analysis import (
        AnalysisResult as AnalysisResult,
    )
    from rankstudio.engine.methods.catalog.analysis import (
        AnalysisTable as AnalysisTable,
    )
    from rankstudio.engine.methods.catalog.analysis import Needs as Needs
    from rankstudio.engine.methods.catalog.analysis import formatted as formatted
    from rankstudio.engine.methods.catalog.method import (
        CandidateScore as CandidateScore,
    )
    from rankstudio.engine.methods.catalog.method import Criterion as Criterion
    from rankstudio.engine.methods.catalog.method import Description as Description
    from rankstudio.engine.methods.catalog.method import Requirement as Requirement
    from rankstudio.engine.methods.catalog.method import ScoreSource as ScoreSource
    from rankstudio.engine.methods.catalog.method import Seconds as Seconds
    from rankstudio.engine.methods.catalog.method import StepKind as StepKind
    from rankstudio.engine.methods.catalog.shared import BUDGET as BUDGET
    from rankstudio.engine.methods.catalog.shared import (
        LEAVE_QUERY_OUT as LEAVE_QUERY_OUT,
    )
    from rankstudio.engine.methods.catalog.shared import MEASURE as MEASURE
    from rankstudio.engine.methods.catalog.shared import (
        RANKING_LAMBDA as RANKING_LAMBDA,
    )
    from rankstudio.engine.methods.catalog.shared import SCORE_COSTS as SCORE_COSTS
    from rankstudio.engine.methods.catalog.shared import SIZE as SIZE
    from rankstudio.engine.methods.foreign.instances import as_method as as_method
    from rankstudio.engine.methods.foreign.permission import add_by_user as add_method  # noqa: F401
    from rankstudio.engine.methods.foreign.permission import (  # noqa: F401
        add_user_measure as add_measure,
    )
    from rankstudio.engine.methods.left_out import LeftOutScorer as LeftOutScorer
    from rankstudio.engine.methods.memory_need import NUMBER as NUMBER
    from rankstudio.engine.methods.memory_need import PAIRS as PAIRS
    from rankstudio.engine.methods.memory_need import DataShape as DataShape
    from rankstudio.engine.methods.memory_need import MemoryNeed as MemoryNeed
    from rankstudio.engine.methods.memory_need import shard_need as shard_need
    from rankstudio.engine.methods.memory_need import sums_need as sums_need
    from rankstudio.engine.methods.memory_need import whole_need as whole_need
    from rankstudio.engine.methods.own_values import OwnValues as OwnValues
    from rankstudio.engine.methods.own_values import own_importance as own_importance
    from rankstudio.engine.methods.own_values import own_similarity as own_similarity
    from rankstudio.engine.methods.rankers.rankrls import RankRLS as RankRLS
    from rankstudio.engine.methods.scikit_learn import (
        check_is_fitted as check_is_fitted,
    )
    from rankstudio.engine.methods.scikit_learn import validate_data as validate_data
    from rankstudio.engine.methods.selection.base import (
        GrowingSelector as GrowingSelector,
    )
    from rankstudio.engine.methods.selection.base import Ordering as Ordering
    from rankstudio.engine.methods.selection.base import PathSelector as PathSelector
    from rankstudio.engine.methods.selection.base import (
        ScoredSelector as ScoredSelector,
    )
    from rankstudio.engine.methods.selection.base import Selector as Selector
    from rankstudio.engine.methods.selection.base import best_first as best_first
    from rankstudio.engine.methods.selection.column_groups import (
        ColumnGroups as ColumnGroups,
    )
    from rankstudio.engine.methods.selection.constraints import (
        Constraints as Constraints,
    )
    from rankstudio.engine.methods.selection.feature_comparison import (
        feature_similarities as feature_similarities,
    )
    from rankstudio.engine.methods.selection.feature_comparison import (
        single_feature_gains as single_feature_gains,
    )
    from rankstudio.engine.methods.shards.order_statistics import (
        order_statistics as order_statistics,
    )
    from rankstudio.engine.methods.shards.sums import (
        informative_columns as informative_columns,
    )
    from rankstudio.engine.methods.shards.sums import labels_of as labels_of
    from rankstudio.engine.methods.shards.sums import summed as summed
    from rankstudio.engine.methods.shards.sums import (
        sums_of_products as sums_of_products,
    )
    from rankstudio.engine.methods.shards.training_data import GivenData as GivenData
    from rankstudio.engine.methods.shards.training_data import (
        TrainingData as TrainingData,
    )
    from rankstudio.engine.methods.shards.training_data import (
        column_portions as column_portions,
    )
    from rankstudio.engine.methods.shards.training_data import (
        training_data as training_data,
    )
    from rankstudio.engine.methods.shards.work import Joined as Joined
    from rankstudio.engine.metrics.conventions import DEFAULT as DEFAULT_CONVENTION  # noqa: F401
    from rankstudio.engine.metrics.conventions import Convention as Convention
    from rankstudio.engine.metrics.conventions import convention as convention
    from rankstudio.engine.metrics.conventions import objective as objective
    from rankstudio.engine.metrics.evaluator import Evaluator as Evaluator
    from rankstudio.engine.metrics.measure_entry import MeasureEntry as Measure  # noqa: F401
    from rankstudio.engine.metrics.names import measure as find_measure  # noqa: F401
    from rankstudio.engine.plugins.plugin import Plugin as Plugin
    from rankstudio.engine.plugins.run_logs import RunListener as RunListener
    from rankstudio.engine.plugins.run_logs import RunLog as RunLog
    from rankstudio.engine.plugins.terminal_commands import (
        TerminalCommand as TerminalCommand,
    )
    from rankstudio.engine.plugins.window_parts import WindowPage as WindowPage
    from rankstudio.engine.plugins.window_parts import WindowPanel as WindowPanel
    from rankstudio.engine.steps import Iteration as Iteration
    from rankstudio.engine.steps import Step as Step
    from rankstudio.engine.steps import steps_of as steps_of
    from rankstudio.engine.support.jit import kernel as kernel
    from rankstudio.engine.support.memory import budget as memory_budget  # noqa: F401
    from rankstudio.engine.support.shard import Shard as Shard
    from rankstudio.engine.support.threads import pool as thread_pool  # noqa: F401
    from rankstudio.engine.support.threads import share as share_work  # noqa: F401
    from rankstudio.engine.support.threads import worthwhile as worthwhile
    from rankstudio.engine.support.work import Note as Note
    from rankstudio.engine.support.work import Waiting as Waiting
    from rankstudio.engine.support.work import WorkProgress as WorkProgress
    from rankstudio.engine.support.work import finish as finish
    from rankstudio.engine.support.work import part_of as part_of
    from rankstudio.engine.support.work import told_as as told_as
    from rankstudio.engine.support.work import without_notes as without_notes

API = 1

_CATALOG = "rankstudio.engine.methods.catalog"
_SELECTION = "rankstudio.engine.methods.selection.base"
_HOMES = {
    "Plugin": "rankstudio.engine.plugins.plugin",
    "analyse": "rankstudio.engine.analysis.catalog_analyses.plugin_analysis",
    **dict.fromkeys(
        ("Analysis", "AnalysisResult", "AnalysisTable", "Needs", "formatted"),
        f"{_CATALOG}.analysis",
    ),
    **dict.fromkeys(
        ("WindowPage", "WindowPanel"), "rankstudio.engine.plugins.window_parts"
    ),
    **dict.fromkeys(("RunListener", "RunLog"), "rankstudio.engine.plugins.run_logs"),
    "TerminalCommand": "rankstudio.engine.plugins.terminal_commands",
    **dict.fromkeys(("Method", "Parameter", "Kind"), _CATALOG),
    **dict.fromkeys(
        (
            "CandidateScore",
            "Criterion",
            "Description",
            "Requirement",
            "ScoreSource",
            "Seconds",
            "StepKind",
        ),
        f"{_CATALOG}.method",
    ),
    **dict.fromkeys(
        (
            "RANKING_LAMBDA",
            "SIZE",
            "SCORE_COSTS",
            "BUDGET",
            "MEASURE",
            "LEAVE_QUERY_OUT",
        ),
        f"{_CATALOG}.shared",
    ),
    "LinearRanker": "rankstudio.engine.methods.base",
    **dict.fromkeys(
        (
            "Selector",
            "GrowingSelector",
            "PathSelector",
            "ScoredSelector",
            "Ordering",
            "best_first",
        ),
        _SELECTION,
    ),
    **dict.fromkeys(
        ("DataShape", "MemoryNeed", "sums_need", "whole_need"),
        "rankstudio.engine.methods.memory_need",
    ),
    **dict.fromkeys(
        ("summed", "informative_columns"), "rankstudio.engine.methods.shards.sums"
    ),
    "order_statistics": "rankstudio.engine.methods.shards.order_statistics",
    **dict.fromkeys(
        ("single_feature_gains", "feature_similarities"),
        "rankstudio.engine.methods.selection.feature_comparison",
    ),
    **dict.fromkeys(
        ("TrainingData", "training_data"),
        "rankstudio.engine.methods.shards.training_data",
    ),
    "ModelFormat": "rankstudio.engine.export.plugin_formats",
    **dict.fromkeys(("DataFormat", "DataBlock"), "rankstudio.engine.data.data_format"),
    "QueryData": "rankstudio.engine.arithmetic.query_data",
    "Evaluator": "rankstudio.engine.metrics.evaluator",
    "Convention": "rankstudio.engine.metrics.conventions",
    "Measure": "rankstudio.engine.metrics.measure_entry",
    **dict.fromkeys(("Step", "Iteration"), "rankstudio.engine.steps"),
    **dict.fromkeys(
        ("WorkProgress", "Note", "Waiting", "finish"), "rankstudio.engine.support.work"
    ),
    **dict.fromkeys(("ParameterError", "RankStudioError"), "rankstudio.engine.errors"),
    **dict.fromkeys(
        ("add_method", "add_measure"), "rankstudio.engine.methods.foreign.permission"
    ),
    "as_method": "rankstudio.engine.methods.foreign.instances",
    **dict.fromkeys(("Floats", "Ints", "Bools"), "rankstudio.engine.arrays"),
    "tr": "rankstudio.engine.language",
    **dict.fromkeys(
        ("DatasetError", "Cancelled", "between"), "rankstudio.engine.errors"
    ),
    "check_rows": "rankstudio.engine.arithmetic.magnitude",
    "PairCost": "rankstudio.engine.arithmetic.pair_cost.cost",
    "several_queries": "rankstudio.engine.arithmetic.query_data",
    "once": "rankstudio.engine.arithmetic.shared",
    **dict.fromkeys(("MOST_SEED", "prices_of"), "rankstudio.engine.methods.base"),
    **dict.fromkeys(
        (
            "Capabilities",
            "Compared",
            "ComparedByQuery",
            "ExactExchange",
            "FeaturePenalties",
            "GradeDensities",
            "LabelPaths",
            "PathsFromSums",
            "QueryErrors",
            "Share",
            "StepTest",
        ),
        "rankstudio.engine.methods.capabilities",
    ),
    "LeftOutScorer": "rankstudio.engine.methods.left_out",
    **dict.fromkeys(
        ("NUMBER", "PAIRS", "shard_need"), "rankstudio.engine.methods.memory_need"
    ),
    **dict.fromkeys(
        ("OwnValues", "own_importance", "own_similarity"),
        "rankstudio.engine.methods.own_values",
    ),
    "RankRLS": "rankstudio.engine.methods.rankers.rankrls",
    **dict.fromkeys(
        ("check_is_fitted", "validate_data"), "rankstudio.engine.methods.scikit_learn"
    ),
    "ColumnGroups": "rankstudio.engine.methods.selection.column_groups",
    "Constraints": "rankstudio.engine.methods.selection.constraints",
    **dict.fromkeys(
        ("labels_of", "sums_of_products"), "rankstudio.engine.methods.shards.sums"
    ),
    **dict.fromkeys(
        ("GivenData", "column_portions"),
        "rankstudio.engine.methods.shards.training_data",
    ),
    "Joined": "rankstudio.engine.methods.shards.work",
    **dict.fromkeys(
        ("convention", "objective", "DEFAULT_CONVENTION"),
        "rankstudio.engine.metrics.conventions",
    ),
    "find_measure": "rankstudio.engine.metrics.names",
    "steps_of": "rankstudio.engine.steps",
    "kernel": "rankstudio.engine.support.jit",
    "memory_budget": "rankstudio.engine.support.memory",
    "Shard": "rankstudio.engine.support.shard",
    **dict.fromkeys(
        ("thread_pool", "share_work", "worthwhile"), "rankstudio.engine.support.threads"
    ),
    **dict.fromkeys(
        ("part_of", "told_as", "without_notes"), "rankstudio.engine.support.work"
    ),
}
_RENAMED = {
    "ModelFormat": "ModelFormatEntry",
    "add_method": "add_by_user",
    "add_measure": "add_user_measure",
    "Measure": "MeasureEntry",
    "DEFAULT_CONVENTION": "DEFAULT",
    "find_measure": "measure",
    "memory_budget": "budget",
    "thread_pool": "pool",
    "share_work": "share",
}

__all__ = ["API", *_HOMES]  # noqa: PLE0604 - names of a table


def __getattr__(name: str) -> object:
    """Import a name of the interface when it is first used."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), _RENAMED.get(name, name))


def __dir__() -> list[str]:
    """Return the names of the interface."""
    return sorted(__all__)
