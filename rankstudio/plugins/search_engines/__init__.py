"""Feature logs and models of Elasticsearch, OpenSearch, Solr and Vespa, and cascades of two models.

For users who run a search engine: its logged features are the data, and
the model that they are selected for ranks there, within a budget of
time.

References
----------
Elasticsearch Learning to Rank.
https://elasticsearch-learning-to-rank.readthedocs.io Apache Solr
Reference Guide: Learning To Rank. https://solr.apache.org/guide Vespa:
phased ranking. https://docs.vespa.ai/en/phased-ranking.html Wang, L.,
Lin, J. and Metzler, D. (2011). A cascade ranking model for efficient
ranked retrieval. SIGIR 34.
"""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.engine.plugins.run_views import RunView

PLUGIN = Plugin(
    name="search-engines",
    analyses="rankstudio.plugins.search_engines.cascade_entry:ANALYSES",
    data_formats="rankstudio.plugins.search_engines.data_formats:FORMATS",
    model_formats="rankstudio.plugins.search_engines.model_formats:FORMATS",
    run_views=(
        RunView(
            key="cascades",
            label=translatable("cascades"),
            title=translatable("Cascades"),
            tab="pareto",
            view="rankstudio.plugins.search_engines.window.cascade_view:CascadeView",
        ),
    ),
    summary="Feature logs and models of Solr, Elasticsearch and Vespa, and cascades of two models.",
)
