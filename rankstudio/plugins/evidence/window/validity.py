"""Validity and completeness of the first features of the shown model, computed on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.splitting.query_halves import has_halves
from rankstudio.engine.steps import Step
from rankstudio.plugins.evidence.window.model_measurement import ModelMeasurement
from rankstudio.ui.language import tr
from rankstudio.ui.model.selected_model import SelectedModel

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.model_validity import MeasuredValidity

# most sets of features that are kept: of more features, only some
# numbers are tried
_MAX_SETS = 30


class Validity(ModelMeasurement):
    """Measures the validity of the shown model's features, while a view of the validity is visible.

    The parameters are those of `ModelMeasurement`.
    """

    slot = "validity"

    def _description(self) -> str:
        return tr("Masking features")

    def _settings(self) -> tuple[str, ...]:
        return ()

    def _can_measure(self, step: Step, part: RankingDataset) -> bool:
        # one ranking of few documents has no evidence of any kind
        is_enough = part.n_queries > 1 or has_halves(part)
        return bool(step.selected) and is_enough

    def _n_copies(self, step: Step) -> int:
        n_features = len(step.selected)
        # each set is kept alone, and masked; their order may need each
        # feature masked
        return 2 * n_features * (min(n_features, _MAX_SETS) + n_features)

    def _measurement_steps(
        self, model: SelectedModel, part: RankingDataset
    ) -> Callable[[], Iterator[tuple[float, MeasuredValidity | None]]]:
        part_name = self.part_name
        return lambda: _validity_steps(model, part, part_name)

    def _stored_name(self, model_name: str) -> str:
        from rankstudio.plugins.evidence.model_validity import validity_place  # noqa: PLC0415 - brings kernels

        return validity_place(self.part_name, model_name)

    def _stored_value(
        self, step: Step, measurement: MeasuredValidity
    ) -> MeasuredValidity:
        return measurement

    def _unpack(self, content: bytes, n_features: int) -> MeasuredValidity:
        from rankstudio.plugins.evidence.evidence_codec import unpack_validity  # noqa: PLC0415 - on the worker only

        return unpack_validity(content, n_features)


def _validity_steps(
    model: SelectedModel, part: RankingDataset, part_name: str
) -> Iterator[tuple[float, MeasuredValidity | None]]:
    """Yield the share of the work that is done; at the end, 1 and the values."""
    from rankstudio.plugins.evidence.model_validity import step_validity  # noqa: PLC0415 - on the worker only

    selects = model.plan.entry.selects
    work = step_validity(model.step, part, model.fold.train, part_name, selects=selects)
    while True:
        try:
            progress = next(work)
        except StopIteration as end:
            yield 1.0, end.value
            return
        yield progress.share, None
