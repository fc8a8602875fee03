"""The Data page's controller: shows the open data, and the statistics that the worker computes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Slot

from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import feature_groups_of, group_names
from rankstudio.engine.data.summary import DatasetSummary, describe_fold
from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.engine.methods.catalog.parameter import MILLISECONDS
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.tasks import quality_of_features
from rankstudio.ui.data.contributed_columns import contributed_columns
from rankstudio.ui.data.panel import DataPanel
from rankstudio.ui.data.statistics_panel import (
    NOTHING,
    DescribedFeature,
    StatisticsPanel,
)
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.page_controller import PageController
from rankstudio.ui.process.turns import turns
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.feature_quality import QualityReport

_COMPUTING_TEXT = tr("Computing the statistics …")
_NO_DOCUMENTS_TEXT = tr("Open the data to see their statistics.")


class DataController(PageController):
    """Controller of the Data page: fills its panels, has statistics computed, and shows a clicked fold.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        session = models.session
        worker = models.task_worker
        self._session = session
        self._absence = models.absence

        # Reports on the quality of features, by fold (None for all
        # folds) and convention.
        self._reports: dict[tuple[int | None, str], QualityReport] = {}

        # Reports that also hold for the next dataset, if that differs
        # from the present one in the names of features only.
        self._reports_to_keep: dict[tuple[int | None, str], QualityReport] = {}
        self._notes: Mapping[int, str] = {}  # the user's, by the ids of features
        self.panel = DataPanel(theme)
        self.statistics = StatisticsPanel(theme)
        self.panels = self.panel, self.statistics
        fail = self.failed.emit
        panel = self.statistics

        # Each of these has a computation done on the worker when the
        # key, a function of this class, returns another value.
        self._summary_demand = OnDemand(
            self, worker, self._summary_key, self._describe, fail
        )
        self._quality_demand = OnDemand(
            self,
            worker,
            self._quality_key,
            self._assess_features,
            fail,
            slot="feature quality",
            panel=panel,
        )
        self._contributed = contributed_columns(session, worker, fail, panel, self)
        for column in self._contributed:
            column.changed.connect(self._show_statistics)
        self.statistics.appeared.connect(self._show_statistics)
        self.panel.foldChosen.connect(session.choose_fold)
        session.datasetChanged.connect(self._show)
        self._absence.changed.connect(self._explain)
        session.foldChanged.connect(self._show_fold_soon)
        for changed in (session.planChanged, session.measureChanged):
            changed.connect(self._show_convention)

    @Slot()
    def _explain(self) -> None:
        """Show the present reason why there are no documents and no statistics."""
        # That documents are being opened, "" if they are not.
        self.panel.set_opening(self._absence.documents(""))
        if self.panel.summary() is None:
            self._show_statistics()

    def turn(self, by: int) -> None:
        """Show the next fold if ``by`` is 1, or the previous one if it is -1.

        After the last fold comes the first.
        """
        dataset = self._session.dataset
        if dataset is not None:
            numbers = [fold.number for fold in dataset.folds]

            # While all folds are shown, the next one is the first, and the
            # previous one the last.
            outside = -1 if by > 0 else len(numbers)
            position = (
                numbers.index(self._session.fold)
                if self._session.fold in numbers
                else outside
            )
            self._session.choose_fold(numbers[(position + by) % len(numbers)])

    @Slot()
    def _show(self) -> None:
        """Show other data, and discard what was computed for the previous ones.

        Reports on features and summaries of folds stay if only names of
        features have changed.
        """
        self._reports = self._reports_to_keep
        self._reports_to_keep = {}
        for demand in (self._summary_demand, self._quality_demand):
            demand.forget()
        for column in self._contributed:
            column.forget()
        if self._session.dataset is not None:
            self.panel.show_dataset(
                self._session.dataset, keep_summaries=bool(self._reports)
            )
            self._show_convention()

    @Slot()
    def _show_convention(self) -> None:
        """Show the convention of the measures, and whether the features are scaled."""
        if self._session.dataset is not None:
            scaled = self._session.plan.normalize != "none"
            self.panel.set_convention(self._session.convention, scaled=scaled)
            self._show_statistics()

    @Slot()
    def _show_fold_soon(self) -> None:
        """Show another fold in a later turn of the event loop, after the curves are shown."""
        turns().ask(self._show_fold)

    def _show_fold(self) -> None:
        """Show the session's fold, and have its summary computed."""
        if self._session.dataset is not None:
            self.panel.set_fold(self._session.fold)
            self._show_statistics()
            self._summary_demand.update()

    def _summary_key(self) -> Key | None:
        """Return dataset and fold, by which a summary is computed.

        Return None if it is known already, or cannot be computed.
        """
        dataset = self._session.dataset
        fold = self._session.fold
        if (
            dataset is None
            or self.panel.has_summary(fold)
            or not self._session.has_documents
        ):
            return None
        return dataset, fold

    def _describe(self) -> Computation | None:
        """Return the computation of the summary of the current fold, or of all folds.

        The summary has counts of documents, queries and labels, and
        statistics of the features. The computation also shows the
        summary. Return None without data.
        """
        dataset = self._session.dataset
        fold = self._session.fold
        if dataset is None:
            return None

        def show(summary: DatasetSummary) -> None:
            """Show the summary of `fold`, which was the current one at the request."""
            self.panel.show_summary(fold, summary)
            self._show_statistics()

        return computation(
            tr("Computing statistics of {name}").format(name=dataset.name),
            show,
            describe_fold,
            dataset,
            fold,
        )

    def _reason_without_statistics(self) -> str:
        """Return why there are no statistics, as a sentence.

        No data are open, the statistics are being computed, or the
        documents are not open.
        """
        if self._session.dataset is None:
            return NOTHING

        # `_absence` replaces the text while the documents are being opened.
        return (
            _COMPUTING_TEXT
            if self._session.has_documents
            else self._absence.documents(_NO_DOCUMENTS_TEXT)
        )

    @Slot()
    def _show_statistics(self) -> None:
        """Show the statistics of the shown fold, and have missing ones computed.

        Nothing is done while the panel of statistics is hidden.
        """
        if not self.statistics.isVisible() or not self.panel.shows(
            self._session.dataset
        ):
            # After a change of the data, signals of plan or measure may
            # come before that of the data; the panel does not have the
            # new data yet.
            return
        dataset = self._session.dataset
        summary = self.panel.summary()
        fold = self._session.shown_fold
        if dataset is None or summary is None:
            self.statistics.clear(self._reason_without_statistics())
            return
        subject = f"{dataset.name}, {self.panel.described()}"

        # The training documents of a single fold are listed as well.
        self.statistics.show_summary(
            subject, summary, fold.train if fold else None, self._rows(summary)
        )

        # Have the qualities and the columns of plug-ins computed if
        # they have changed.
        self._quality_demand.update()
        for column in self._contributed:
            column.update()

    def _rows(self, summary: DatasetSummary) -> list[DescribedFeature]:
        """Return the features of a summary, each with all that is known about it so far."""
        # `_view` is the pair of shown fold and convention. Until its
        # report is computed, the quality of each feature is None.
        report = self._reports.get(self._view)
        qualities = (
            report.features if report is not None else [None] * len(summary.features)
        )
        dataset = self._session.dataset

        # Costs of the plan, by the ids of features; 1 for those that it
        # does not name. None if the method has no costs.
        costs = self._costs()
        plan = self._session.plan
        groups = group_names(feature_groups_of(plan))
        plan_costs = plan.extension(FeatureCosts)
        contributed_values = {
            column.entry.key: column.values() for column in self._contributed
        }

        # Milliseconds that features cost for each document, and once for each query.
        document_costs = {} if plan_costs is None else plan_costs.per_document
        query_costs = {} if plan_costs is None else plan_costs.per_query
        names = tuple(f.name for f in summary.features)
        if dataset is not None:
            # The user may have renamed a feature since the summary was
            # computed. The ids of the dataset ascend; the search gives
            # their positions.
            ids = [f.feature_id for f in summary.features]
            names = tuple(
                dataset.feature_names[i]
                for i in np.searchsorted(dataset.feature_ids, ids).tolist()
            )
        return [
            DescribedFeature(
                feature,
                quality,
                name,
                note=self._notes.get(feature.feature_id, ""),
                cost=costs.get(feature.feature_id, 1.0) if costs is not None else None,
                group=groups.get(feature.feature_id, ""),
                per_document=document_costs.get(feature.feature_id),
                per_query=query_costs.get(feature.feature_id),
                contributed={
                    key: values[feature.feature_id]
                    for key, values in contributed_values.items()
                    if feature.feature_id in values
                },
            )
            for feature, quality, name in zip(
                summary.features, qualities, names, strict=True
            )
        ]

    def set_notes(self, notes: Mapping[int, str]) -> None:
        """Show the user's notes on features, by their ids."""
        self._notes = notes
        self._show_statistics()

    def keep_reports(self) -> None:
        """Keep the reports on the features for the next dataset, which is the same with other names."""
        self._reports_to_keep = self._reports

    def costs_parameter(self) -> Parameter | None:
        """Return the parameter of the plan's method that has the costs of features.

        Return None if the method has none, or if the plan tries several
        sets of costs.
        """
        plan = self._session.plan
        parameter = next(
            (p for p in plan.entry.parameters if p.kind is Kind.COSTS), None
        )
        if parameter is None or parameter.several(plan.parameters[parameter.name]):
            return None
        return parameter

    def _costs(self) -> dict[int, float] | None:
        """Return the costs in the plan, by the ids of features; a feature without an entry costs 1.

        Return None for a method without costs, or for costs in
        milliseconds, which are shown in other columns.
        """
        parameter = self.costs_parameter()
        if (
            parameter is None
            or self._session.plan.parameters[parameter.name] == MILLISECONDS
        ):
            return None
        return dict(self._session.plan.parameters[parameter.name])

    @property
    def _view(self) -> tuple[int | None, str]:
        """The shown fold (None for all folds) and the convention, by which reports are stored."""
        return self._session.fold, self._session.convention

    def _quality_key(self) -> Key | None:
        """Return dataset, fold and convention, by which the report on the features is computed.

        Return None if it is known already, or cannot be computed.
        """
        dataset = self._session.dataset
        view = self._view
        if dataset is None or view in self._reports or not self._session.has_documents:
            return None
        return dataset, *view

    def _assess_features(self) -> Computation | None:
        """Return the computation of the report on the features: how each ranks alone, and warnings.

        Return None until the summary is computed, which the report
        needs. The report is stored under the fold and the convention
        (``view``) that are shown now, as others may be shown by the
        time it arrives.
        """
        dataset = self._session.dataset
        summary = self.panel.summary()
        view = self._view
        if dataset is None or summary is None:
            return None

        def show(report: QualityReport) -> None:
            """Store the report under `view`, and show the statistics with it."""
            self._reports[view] = report
            self._show_statistics()

        work = partial(quality_of_features, dataset, *view, summary)
        return computation(tr("Computing feature statistics"), show, work)
