"""The field for how folds come about: the usual protocols to choose from, and any other one typed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Slot

from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.protocol import GIVEN, LEAVE_QUERY_OUT, parse_protocol
from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.ui.language import tr
from rankstudio.ui.select.fields import EditableField
from rankstudio.ui.style.theme import Theme

_USUAL = (
    GIVEN,
    "5-fold",
    "10-fold",
    LEAVE_QUERY_OUT,
    "split 60/20/20",
    "nested 20",
    "nested 5-fold",
    "5-fold, nested 5-fold",
)


def _protocol() -> Parameter:
    """Return the protocol as a parameter."""
    return Parameter(
        name="protocol",
        label=tr("folds"),
        kind=Kind.CHOICE,
        default=GIVEN,
        help=(
            tr(
                "How the folds come about. “given”: as the files have them. “5-fold”: all queries "
                "dealt to five parts, each the test part once. “leave-query-out”: each query tested "
                "by all others. “split 60/20/20”: percents of train, validation and test. “nested "
                "20”: a fold without validation gets that percent of its training queries. “10-fold, "
                "nested 5-fold”: inner folds of each training part validate. A query is never "
                "divided."
            )
        ),
        choices=tuple((protocol, protocol) for protocol in _USUAL),
    )


class ProtocolField(EditableField):
    """How the folds come about."""

    def __init__(self, theme: Theme) -> None:
        self._refused = False
        super().__init__(theme, _protocol(), _USUAL)

    def check(self, raw: Any) -> Any:
        """Return the protocol as a plan writes it; ParameterError where it is none."""
        try:
            return str(parse_protocol(str(raw)))
        except PlanError as error:
            raise ParameterError(self.parameter.label, raw, _expected(error)) from error

    def set_value(self, value: Any) -> None:
        """Show a protocol without telling anybody; that the data refuse this one stays said."""
        if value != self._value or not self._refused:
            self._value = value
            self._refresh()

    def refuse(self, why: str) -> None:
        """Say that the data cannot be divided so, which no other text in the box would mend."""
        self.show_error(why)
        self._refused = True

    @Slot()
    def commit(self) -> bool:
        """Take what is written in the box; a protocol that the data refuse stays refused."""
        return not (self._refused and self.typed() == self.written()) and super().commit()

    def written(self) -> str:
        """Return the protocol."""
        return str(self._value)

    def show_value(self) -> None:
        """Write the protocol."""
        self._refused = False
        super().show_value()


def _expected(error: PlanError) -> str:
    """Return what an error of the protocol expected, without what the field says itself."""
    return str(error).removeprefix("protocol: expected ").rpartition(", got ")[0]
