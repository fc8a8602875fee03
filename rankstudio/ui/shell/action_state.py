"""Which commands can be carried out just now."""

from __future__ import annotations

from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.shell.workspace import PAGES

_ON_DATA = (
    *("export", "figures", "save_plan", "copy_command", "copy_python"),
    *("group", "best", "next_fold", "previous_fold"),
)


def enabled_commands(models: Models) -> dict[str, bool]:
    """Return for each command that depends on what is open and what works whether it can be carried out."""
    there, model = models.session.dataset is not None, models.current.model is not None
    pins = model and "pinned" in models.session.plan.parameters
    ready = models.session.has_documents and models.session.read_as_planned
    shown = models.runs.shown
    current, loading, undo = models.runs.current, models.loader.busy, models.session.undo
    paused = current is not None and current.state is RunState.PAUSED
    return {
        **dict.fromkeys(_ON_DATA, there),
        "export_table": any(record.result is not None for record in models.runs.records),
        **dict.fromkeys(("run", "open_model", "open_preferences", "add_scores", "add_order"), ready),
        "columns": there and bool(models.session.dataset and models.session.dataset.read_as.label),
        **{f"page_{page.key}": there for page in PAGES},
        "step": (not models.runs.busy and ready) or paused,
        "go_on": shown is not None and shown.can_go_on,
        "pause": current is not None,
        "stop": current is not None or loading or models.permutations.busy,
        "chance": models.permutations.possible,
        "left_out": models.left_out.possible and not models.left_out.brought,
        "stop_all": models.runs.busy,
        "cancel_load": loading,
        "undo": undo.canUndo(),
        "redo": undo.canRedo(),
        "pin": pins,
        "ban": pins,
    }
