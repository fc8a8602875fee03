"""What the command palette finds just now."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rankstudio.engine.methods.catalog import methods
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.shell.actions import MENUS, SUBMENUS, Actions
from rankstudio.ui.shell.command_palette import Entry
from rankstudio.ui.shell.sections import Sections
from rankstudio.ui.shell.workspace import PAGES, Workspace
from rankstudio.ui.style.plain_text import key_text

_MOST_QUERIES = 5000


def palette_entries(
    models: Models, sections: Sections, actions: Actions, workspace: Workspace
) -> tuple[Entry, ...]:
    """Return all that can be chosen: enabled commands, settings, pages, methods, runs, features, queries."""
    session, runs = models.session, models.runs
    entries = [*_commands(actions), *_choices(actions)]
    if session.dataset is not None:
        entries += [Entry(tr("page"), page.label, partial(workspace.show_page, page.key)) for page in PAGES]
        entries += _parameters(models, sections, workspace)
        entries += _methods(models, workspace)
        for run in runs.records:
            show = partial(look_at, session, runs, run)
            entries.append(
                Entry(
                    tr("run"),
                    tr("run {key} {title}").format(key=run.key, title=run.plan.title),
                    show,
                    run.dataset.name,
                )
            )
            delete = tr("Delete run {key} {title}").format(key=run.key, title=run.plan.title)
            remove = partial(sections.results.removalAsked.emit, run)
            entries.append(Entry(tr("command"), delete, remove, run.dataset.name))
        entries += _features(models, sections, workspace)
        entries += _queries(sections, workspace)
    return tuple(entries)


def _commands(actions: Actions) -> Iterator[Entry]:
    for commands in MENUS.values():
        for command in commands:
            known = command is not None and command.key not in SUBMENUS
            if command is None or not known or command.key.startswith("page_") or command.key == "palette":
                continue
            action = actions[command.key]
            if action.isEnabled():
                yield Entry(tr("command"), action.iconText(), action.trigger, key_text(command.shortcuts))


def _choices(actions: Actions) -> Iterator[Entry]:
    """Yield the entries of submenus: themes, languages, measures, scalings, recent files."""
    for menu in actions.submenus.values():
        title = menu.title().replace("&", "")
        for action in menu.actions():
            if action.text() and action.isEnabled() and action.menu() is None:
                text = f"{title} › {action.text().replace('&', '')}"
                yield Entry(tr("setting"), text, action.trigger)


def _parameters(models: Models, sections: Sections, workspace: Workspace) -> Iterator[Entry]:
    """Yield the fields of the form."""
    form, plan = sections.method.form, models.session.plan
    names = ["method", *plan.parameters, "protocol"]
    names += [] if plan.entry.given else ["select_by", "rule"]
    names += ["ranked_by"] if plan.entry.selects else []

    def go(name: str) -> None:
        workspace.show_page("select")
        form.go_to(name)

    for name in names:
        yield Entry(tr("setting"), form.field(name).label.text(), partial(go, name))


def _methods(models: Models, workspace: Workspace) -> Iterator[Entry]:
    def use(key: str, label: str) -> None:
        models.session.change(tr("the method {label}").format(label=label), method=key, parameters={})
        workspace.show_page("select")

    for method in methods():
        if not method.lacking:
            yield Entry(tr("method"), method.label, partial(use, method.key, method.label), method.citation)


def _features(models: Models, sections: Sections, workspace: Workspace) -> Iterator[Entry]:
    def inspect(feature: int) -> None:
        workspace.show_page("features")
        sections.inspect.inspect(feature)

    dataset = models.session.dataset
    if dataset is not None:
        for feature, name in zip(dataset.feature_ids.tolist(), dataset.feature_names, strict=True):
            yield Entry(tr("feature"), name, partial(inspect, feature), str(feature))


def _queries(sections: Sections, workspace: Workspace) -> Iterator[Entry]:
    """Yield the queries that are compared, where they are not too many to look through."""
    queries = sections.queries.queries
    if len(queries) > _MOST_QUERIES:
        return

    def show(fold: int, position: int) -> None:
        workspace.show_page("queries")
        sections.queries.show_query(fold, position)

    for query in queries:
        beside = tr("{n_documents} documents").format(n_documents=query.n_documents)
        yield Entry(
            tr("query"),
            tr("query {query_id}").format(query_id=query.query_id),
            partial(show, query.fold, query.position),
            beside,
        )
