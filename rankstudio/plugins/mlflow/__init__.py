"""A log of runs in a tracking store of MLflow: ``rankstudio run --log mlflow``.

For laboratories that keep the runs of all their programs in MLflow. The
log has the plan, the measures after each step, the files and the
models.

References
----------
Zaharia, M. et al. (2018). Accelerating the machine learning lifecycle
with MLflow. IEEE Data Engineering Bulletin 41 (4), 39-45.
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.run_logs import RunLog

PLUGIN = Plugin(
    name="mlflow",
    run_logs=(
        RunLog(
            key="mlflow",
            help=(
                'MLflow (extra "mlflow"): mlflow uses MLFLOW_TRACKING_URI or the folder mlruns; '
                "mlflow:PLACE uses a folder or a server, such as mlflow:http://localhost:5000"
            ),
            store="rankstudio.plugins.mlflow.tracking_store:tracking_store",
            listener="rankstudio.plugins.mlflow.tracking_store:MlflowLog",
        ),
    ),
    summary="Logs of runs in MLflow.",
)
