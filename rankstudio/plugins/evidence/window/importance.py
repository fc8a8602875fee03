"""Loss of the shown model when its features are permuted within queries, computed on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.steps import Step
from rankstudio.plugins.evidence.window.model_measurement import ModelMeasurement
from rankstudio.ui.language import tr
from rankstudio.ui.model.selected_model import SelectedModel

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.model_importance import MeasuredImportance
    from rankstudio.plugins.evidence.permutation_importance import PermutationImportance

N_REPEATS = 10


class Importance(ModelMeasurement):
    """Measures the shown model's losses with features permuted, while a view of the losses is visible.

    The parameters are those of `ModelMeasurement`.
    """

    slot = "importance"

    def _description(self) -> str:
        return tr("Permuting features")

    def _settings(self) -> tuple[str, ...]:
        return self._session.measure, self._session.convention

    def _can_measure(self, step: Step, part: RankingDataset) -> bool:
        return part.n_queries > 1

    def _n_copies(self, step: Step) -> int:
        return len(step.selected) * N_REPEATS

    def _measurement_steps(
        self, model: SelectedModel, part: RankingDataset
    ) -> Callable[[], Iterator[tuple[float, PermutationImportance | None]]]:
        measure, convention = self._settings()
        return lambda: _importance_steps(
            model.step, part, measure, convention, model.plan.seed
        )

    def _stored_name(self, model_name: str) -> str:
        from rankstudio.plugins.evidence.model_importance import importance_place  # noqa: PLC0415 - brings kernels

        measure, convention = self._settings()
        return importance_place(self.part_name, measure, convention, model_name)

    def _stored_value(
        self, step: Step, measurement: PermutationImportance
    ) -> MeasuredImportance:
        from rankstudio.plugins.evidence.model_importance import MeasuredImportance  # noqa: PLC0415 - brings kernels

        return MeasuredImportance(
            measurement, self.part_name, self._session.convention, len(step.selected)
        )

    def _unpack(self, content: bytes, n_features: int) -> PermutationImportance:
        """Return the importance stored as bytes, with its intervals computed."""
        from rankstudio.plugins.evidence.evidence_codec import unpack_importance  # noqa: PLC0415 - on the worker only

        importance = unpack_importance(content, n_features).found
        # cached here, on the worker, because computing them takes a while
        _ = importance.intervals
        return importance


def _importance_steps(
    step: Step, part: RankingDataset, measure: str, convention: str, seed: int
) -> Iterator[tuple[float, PermutationImportance | None]]:
    """Measure the losses of a model with each feature permuted, on the documents of a part.

    ``step`` has the model. Yield the share of the work that is done,
    and the importance so far, None at first.
    """
    from rankstudio.engine.metrics.names import measure as find_measure  # noqa: PLC0415 - on the worker only
    from rankstudio.plugins.evidence.model_importance import step_importance  # noqa: PLC0415 - on the worker only
    from rankstudio.plugins.evidence.partial_result import PartialResult  # noqa: PLC0415 - on the worker only

    importance = None

    for update in step_importance(
        step, part, find_measure(measure), convention, N_REPEATS, seed
    ):
        if isinstance(update, PartialResult):
            importance = update.found

            # cached here, on the worker, because computing them takes a while
            _ = importance.intervals
        yield update.share, importance
