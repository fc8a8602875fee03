"""The abilities of RankStudio beside its core, one folder each, as plug-ins like anybody's.

A folder has the computation, the commands, the panels and the texts of
its ability, and names them in ``PLUGIN``. The core imports none of
them: an ability is gone with its folder, and nothing else is.
"""
