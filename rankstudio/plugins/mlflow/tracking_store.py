"""A log in a tracking store of MLflow, written from the events of a run."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict
from rankstudio.engine.experiment.reports import MODELS, write_results
from rankstudio.engine.experiment.results.events import (
    Event,
    FoldFinished,
    RunStarted,
    UnitFinished,
)
from rankstudio.engine.experiment.results.results import (
    FoldResult,
    PathResult,
    RunResult,
)

_STORE_FOLDER = "mlruns"
_MAX_METRICS = 1000  # the maximum number of metrics in one request to a server
# these files have no number of the test part
_FILES_WITHOUT_TEST = ("plan.toml", "selection_path.csv")

# No telemetry leaves the machine, whatever the user's variables say.
_FORCED_VARIABLES = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
# The user's own values of these variables take precedence.
_DEFAULT_VARIABLES = {
    "MLFLOW_ALLOW_FILE_STORE": "true",  # the only store on disk that needs no database
    # seconds; the default makes a run wait minutes for an absent server
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
}


class MlflowLog:
    """A listener that logs the events of a run in MLflow; a failure of the log never stops the run.

    The run becomes a run in MLflow, with the plan as parameters and the
    averages over the folds as metrics. Each unit (one fold with one
    parameter combination) becomes a child of this run in MLflow, with
    the measures after each step.

    Parameters
    ----------
    store : str
        Where MLflow keeps its runs: a folder, or the address of a server.
    data_name : str
        Name of the dataset, for the name of the experiment.
    say : callable
        Shows a sentence on a failure.

    Attributes
    ----------
    sealed : bool
        Whether the test part is sealed: then no number of the test part is logged.

    Raises
    ------
    MissingExtraError
        If MLflow is not installed.
    """

    def __init__(
        self, store: str, data_name: str, say: Callable[[str], object]
    ) -> None:
        """Load MLflow; the log of a run begins with the first event.

        ``store`` is the address of MLflow's store, ``data_name`` names
        the experiment, and ``say`` shows a sentence to the user.
        """
        self.sealed = False  # whether the test part must not be logged
        self._mlflow = _mlflow_library()
        self._store = store
        self._say = say
        self._experiment = (
            os.environ.get("MLFLOW_EXPERIMENT_NAME")
            or f"RankStudio {_allowed_key(data_name)}"
        )
        self._client: Any = None

        # the id of the run in MLflow; "" before the run begins, and after a failure
        self._run = ""

        # The id of the child run in MLflow, by fold and position of a unit.
        self._units: dict[tuple[int, int], str] = {}

    def follow(self, event: Event) -> None:
        """Log an event of a run: its beginning, and each finished unit and fold.

        A unit is the training with one combination of parameters on one
        fold. Nothing is logged after a failure.
        """
        # `_run` is "" after a failure.
        match event:
            case RunStarted(plan=plan):
                self._attempt(lambda: self._begin(plan))
            case UnitFinished(unit=unit, path=path) if self._run:
                self._attempt(lambda: self._log_unit(unit, path))
            case FoldFinished(result=fold) if self._run:
                self._attempt(lambda: self._log_fold(fold))

    def finish(
        self, result: RunResult, refitted: Path | None = None, *, stopped: bool
    ) -> None:
        """Log the averages and files of a run, and that the run ended.

        Parameters
        ----------
        result : RunResult
        refitted : Path, optional
            File of a model learned from all documents, to be logged too.
        stopped : bool
            Whether the run was stopped before its end.
        """
        if self._run:
            status = "KILLED" if stopped else "FINISHED"
            self._attempt(lambda: self._log_result(result, refitted, status))

    def fail(self) -> None:
        """Log that the run ended with an error."""
        if self._run:
            self._attempt(lambda: self._client.set_terminated(self._run, "FAILED"))

    def _attempt(self, work: Callable[[], None]) -> None:
        """Carry out a part of the logging; after a failure, show one sentence and log nothing more."""
        try:
            work()
        except Exception as error:  # of the library, a server or a disk: the run must continue in any case
            self._run = ""
            store = _without_password(self._store)
            reason = _without_password(_failure_reason(error))
            self._say(
                f"MLflow at {store}: {reason}. The run continues without this log."
            )

    def _begin(self, plan: Plan) -> None:
        """Begin a run in MLflow, with the plan as parameters.

        The run is in the experiment of the data, which is created if
        necessary. The ids of run and experiment, and the plan, are
        stored for later events.
        """
        self._client = self._mlflow.MlflowClient(tracking_uri=self._store)
        stored = self._client.get_experiment_by_name(self._experiment)
        experiment = (
            stored.experiment_id
            if stored
            else self._client.create_experiment(self._experiment)
        )
        run = self._client.create_run(
            experiment, run_name=plan.title, tags={"mlflow.source.name": "rankstudio"}
        )
        self._experiment_id = experiment
        self._run = run.info.run_id
        self._plan = plan
        self._log_params(self._run, _plan_as_parameters(plan))

    def _log_unit(self, unit: Unit, path: PathResult) -> None:
        """Log the path of a unit as a child run: its parameters, and its measures after each step.

        A unit is the training with one combination of parameters on one fold.
        """
        # The child run is named after the fold and the values of the parameters.
        settings = {
            axis.name: axis.format(setting)
            for axis, setting in zip(self._plan.axes, unit.values, strict=True)
        }
        name = ", ".join(
            [f"fold {unit.fold}", *(f"{key} {text}" for key, text in settings.items())]
        )
        run = self._client.create_run(
            self._experiment_id, run_name=name, tags={"mlflow.parentRunId": self._run}
        ).info.run_id

        # The run is kept for what is logged of the unit later.
        self._units[unit.fold, unit.position] = run
        self._log_params(run, {"fold": str(unit.fold), **settings})

        # One row for each measure and step.
        series = {
            "criterion": path.criterion,
            **{
                f"validation/{measure}": curve
                for measure, curve in path.validation.items()
            },
        }
        steps = path.x_values.tolist()
        rows = [
            (curve_name, value, step)
            for curve_name, curve in series.items()
            for value, step in zip(curve.tolist(), steps, strict=True)
        ]
        self._log_metrics(run, rows)
        self._client.set_terminated(run)

    def _log_fold(self, fold: FoldResult) -> None:
        """Log the measures and the size of the chosen model of a fold, and mark its unit as chosen.

        The unit is the training with one combination of parameters that
        gave the model. The number of the fold stands in the place of
        MLflow's step.
        """
        chosen = fold.chosen.unit
        if (chosen.fold, chosen.position) in self._units:
            self._client.set_tag(
                self._units[chosen.fold, chosen.position], "chosen", "yes"
            )
        parts = {
            "validation": fold.validation,
            "test": {} if self.sealed else fold.test,
        }
        rows = [
            (f"by fold/{part} {measure}", value, fold.fold)
            for part, measures in parts.items()
            for measure, value in measures.items()
        ]
        self._log_metrics(
            self._run, [*rows, ("by fold/features", len(fold.selected), fold.fold)]
        )

    def _log_result(
        self, result: RunResult, refitted: Path | None, status: str
    ) -> None:
        """Log the averages over the folds, the files of a run, and its status.

        A part is averaged only if all folds have measures of it. If the
        test part is sealed, only files without its numbers are logged,
        and no models.
        """
        # Means over the folds of each measure, by part; test measures
        # are left out if the run is sealed. MLflow's step is 0 for all
        # of them.
        parts = {"validation": [fold.validation for fold in result.folds]}
        if not self.sealed:
            parts["test"] = [fold.test for fold in result.folds]
        rows = [
            (f"{part}/{measure}", sum(fold[measure] for fold in folds) / len(folds), 0)
            for part, folds in parts.items()
            if folds and all(folds)
            for measure in folds[0]
        ]
        sizes = (
            [("features", sum(result.sizes) / len(result.sizes), 0)]
            if result.sizes
            else []
        )
        self._log_metrics(self._run, [*rows, *sizes])

        # The files are written to a temporary folder, from which they are logged.
        with tempfile.TemporaryDirectory(prefix="rankstudio-") as folder:
            write_results(result, folder)
            if self.sealed:
                for name in _FILES_WITHOUT_TEST:
                    self._client.log_artifact(self._run, str(Path(folder, name)))
            else:
                self._client.log_artifacts(self._run, folder)
                if refitted is not None:
                    self._client.log_artifact(self._run, str(refitted), MODELS)
        self._client.set_terminated(self._run, status)

    def _log_params(self, run: str, params: Mapping[str, str]) -> None:
        """Log the parameters of a run in one request."""
        param = self._mlflow.entities.Param
        self._client.log_batch(
            run,
            params=[param(_allowed_key(name), value) for name, value in params.items()],
        )

    def _log_metrics(self, run: str, rows: list[tuple[str, float, int]]) -> None:
        """Log metrics of a run as rows of name, value and step; undefined values are left out."""
        milliseconds = int(time.time() * 1000)
        metric = self._mlflow.entities.Metric
        values = [
            metric(_allowed_key(name), float(value), milliseconds, step)
            for name, value, step in rows
            if math.isfinite(value)
        ]

        # MLflow accepts a limited number of metrics at once.
        for first in range(0, len(values), _MAX_METRICS):
            self._client.log_batch(run, metrics=values[first : first + _MAX_METRICS])


def tracking_store(location: str) -> str:
    """Return the address or the absolute path of a tracking store.

    Parameters
    ----------
    location : str
        A folder or an address; "" for the value of MLFLOW_TRACKING_URI,
        or else the folder mlruns.

    Raises
    ------
    MissingExtraError
        If MLflow is not installed.
    """
    _mlflow_library()
    store = location or os.environ.get("MLFLOW_TRACKING_URI") or _STORE_FOLDER
    is_address = "://" in store or store == "databricks"
    return store if is_address else str(Path(store).absolute())


def _mlflow_library() -> Any:
    """Return MLflow, set up to print nothing and to send data to the store only."""
    # The first variables forbid telemetry, whatever the user has set.
    # Of the others, the user's own values take precedence.
    os.environ.update(_FORCED_VARIABLES)
    for name, value in _DEFAULT_VARIABLES.items():
        os.environ.setdefault(name, value)
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mlflow  # noqa: PLC0415 - an extra, and slow to load
            import mlflow.entities  # noqa: PLC0415 - see above
    except ImportError:
        raise MissingExtraError("--log mlflow", "MLflow", "mlflow") from None
    return mlflow


def _plan_as_parameters(plan: Plan) -> dict[str, str]:
    """Return a plan as MLflow's parameters, each a text.

    The keys are the names of the parameters. The parameters of a method
    are in a table of the plan. The name of this table is put before the
    name of each parameter.
    """
    parameters: dict[str, Any] = {}
    for name, value in plan_as_dict(plan).items():
        if name.endswith("parameters"):
            parameters |= {
                f"{name}.{inner_name}": inner for inner_name, inner in value.items()
            }
        else:
            parameters[name] = value
    return {name: _as_text(value) for name, value in parameters.items()}


def _as_text(value: Any) -> str:
    """Return a value of a plan as text: numbers and texts separated by commas, other values as JSON."""
    if isinstance(value, list) and all(
        isinstance(item, str | int | float) for item in value
    ):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _allowed_key(name: str) -> str:
    """Return a name with the characters that MLflow allows: letters, digits, ``_ - . /`` and spaces."""
    return re.sub(r"[^/\w.\- ]", "_", name.replace("@", "_at_"))


def _failure_reason(error: BaseException | None) -> str:
    """Return the reason of a failure in one line; the library describes an absent server in a paragraph."""
    first = error

    # An error of the network may be the cause of the error, or the cause of that.
    while error is not None:
        if type(error).__module__ == "requests.exceptions":
            return "the server does not respond"
        error = error.__cause__ or error.__context__
    lines = str(first).strip().splitlines() or [type(first).__name__]
    return lines[0].rstrip(".")[:300]


def _without_password(text: str) -> str:
    """Return a text without the user names and passwords in its addresses."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", text)
