"""Learning from pairs of documents instead of labels: preferences from files, and clicks read as such.

For users whose data tell which of two documents is better, such as logs
of a search engine, rather than how relevant each one is.

References
----------
Pahikkala, T. et al. (2009). An efficient algorithm for learning to rank from preference graphs. Machine
Learning 75 (1), 129-165.
Joachims, T. (2002). Optimizing search engines using clickthrough data. KDD 2002, 133-142.
Joachims, T., Swaminathan, A. and Schnabel, T. (2017). Unbiased learning-to-rank with biased feedback. WSDM
2017, 781-789.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.page_parts import PartCommand
from rankstudio.engine.plugins.pair_sources import PairSource
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.window_commands import WindowCommands

PLUGIN = Plugin(
    name="preferences",
    pair_sources=(
        PairSource(
            key="preferences",
            recognise="rankstudio.plugins.preferences.preference_files:holds_preferences",
            settings="rankstudio.plugins.preferences.clicks:rule_settings",
            check="rankstudio.plugins.preferences.plan_preferences:check_file",
            pairs="rankstudio.plugins.preferences.plan_preferences:preferences_in_training",
            note="rankstudio.plugins.preferences.plan_preferences:click_note",
            add_options="rankstudio.plugins.preferences.run_options:add_options",
            told="rankstudio.plugins.preferences.run_options:preferences_from",
        ),
    ),
    window_commands=(
        WindowCommands(
            key="preferences",
            label=translatable("Preferences"),
            controller="rankstudio.plugins.preferences.window.preferences_view:PreferencesController",
            commands=(
                PartCommand(
                    key="open_preferences",
                    text=translatable("Open pre&ferences or clicks…"),
                    help=translatable(
                        "Learn from preferences between documents instead of labels: a table of qid, winner, "
                        "loser; or clicks: qid, docid, position, click."
                    ),
                    menu="File",
                    after="open_model",
                    slot="ask",
                ),
            ),
        ),
    ),
    summary="Learning from preferences between documents, and from clicks, instead of labels.",
)
