"""Compute the tables of results.md, and write them into the page.

pip install ".[xgboost,catboost]" ./examples/rankstudio-selectors
python docs/results.py DATA OUT [--workers N]

DATA is a folder with MQ2008, OHSUMED and MSLR-WEB10K_sample. OUT
receives the study; the same command again resumes, and writes the page
from what is there.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from rankstudio.cli import main
from rankstudio.cli.output.text_tables import document
from rankstudio.engine.analysis.reported_runs import ALL_DATA, ReportSource, RunChoice
from rankstudio.engine.analysis.reported_runs import read_study as read_runs
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import style_of
from rankstudio.plugins.benchmark.commands.results_page import (
    dataset_tables,
    ranking_tables,
)
from rankstudio.plugins.method_ranks.mean_ranks import study_ranking
from rankstudio.plugins.method_ranks.rank_diagram import rank_diagram

DOCS = Path(__file__).parent
PAGE = DOCS / "results.md"
IMAGES = DOCS / "images" / "results"
METHODS = DOCS / "results.toml"
BEGIN = "<!-- Written by docs/results.py: {section}. -->"
END = "<!-- End of {section}. -->"
"""Marks in the page around each section that is written."""

DIVIDED = {"MQ2008": "MQ2008", "OHSUMED": "OHSUMED/QueryLevelNorm"}
"""Collections that are also cut into parts, by name, with their folders."""

UNDIVIDED = "MSLR-WEB10K_sample"
"""Collection that is too small to be cut."""

N_PARTS = 3

RANKERS = 'ranker = ["rankrls", "ranksvm"]'
"""Line of the plan with the rankers of all selectors; on the parts, RankRLS is the only one."""

WORK = "These are {n} runs, computed in {minutes} minutes on two busy cores."

SELECTORS = "Selectors, each followed by RankRLS, and RankRLS with all features"
MODELS = "Methods that rank with their own models"


def _is_selection(plan: Plan) -> bool:
    """Return whether a plan ranks with RankRLS, with selected features or with all."""
    return plan.ranker == "rankrls" or (plan.method == "rankrls" and not plan.ranker)


def _has_own_model(plan: Plan) -> bool:
    """Return whether the method of a plan ranks with its own model."""
    return not plan.ranker


FAMILIES: dict[str, tuple[str, Callable[[Plan], bool]]] = {
    "selectors": (SELECTORS, _is_selection),
    "models": (MODELS, _has_own_model),
}
"""Methods that are ranked together: title and rule, by the name of the picture."""


def compute(data: Path, out: Path, workers: str) -> None:
    """Run all methods on the datasets below a folder, and those of the parts on the parts."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "lightgbm_importance.py").write_text(_lightgbm_importance(), "utf-8")
    methods = METHODS.read_text("utf-8")
    (out / METHODS.name).write_text(methods, "utf-8")
    datasets = [data / folder for folder in (*DIVIDED.values(), UNDIVIDED)]
    _benchmark(out / METHODS.name, datasets, out / "whole", workers)

    plan = out / "results-parts.toml"
    plan.write_text(methods.replace(RANKERS, 'ranker = "rankrls"'), "utf-8")
    for name, folder in DIVIDED.items():
        write_parts(name, data / folder, out / "data")
    _benchmark(plan, [out / "data", data / UNDIVIDED], out / "parts", workers)


def _lightgbm_importance() -> str:
    """Return the file lightgbm_importance.py as the guide prints it."""
    page = (DOCS / "adding-a-method.md").read_text("utf-8")
    code_block = re.search(
        r"```python\n(# lightgbm_importance\.py\n.*?)```", page, re.DOTALL
    )
    if code_block is None:
        raise SystemExit("adding-a-method.md: found no lightgbm_importance.py.")
    return code_block[1]


def _benchmark(plan: Path, datasets: list[Path], out: Path, workers: str) -> None:
    """Call ``rankstudio benchmark``; both calls keep their runs in one study."""
    words = ["benchmark", str(plan), "--out", str(out), "--workers", workers]
    words += ["--study", str(out.parent / "study.rankstudio"), "--allow-code"]
    words += ["--force"]
    for dataset in datasets:
        words += ["--data", str(dataset)]
    status = main(words)
    if status:
        raise SystemExit(status)


def write_parts(name: str, folder: Path, out: Path, n_parts: int = N_PARTS) -> None:
    """Deal the queries of a collection to several files of LETOR text, in turn.

    The test parts of the collection's folds have each query once.
    """
    texts = [""] * n_parts
    part_of_query: dict[str, int] = {}
    for path in sorted(folder.glob("Fold*/test.txt")):
        for line in path.read_text("utf-8").splitlines(keepends=True):
            query = line.split(maxsplit=2)[1]  # "qid:10032", after the label
            part = part_of_query.setdefault(query, len(part_of_query) % n_parts)
            texts[part] += line
    out.mkdir(exist_ok=True)
    for number, text in enumerate(texts, start=1):
        path = out / f"{name} part {number} of {n_parts}.txt"
        path.write_text(text, "utf-8")


def sections(source: ReportSource) -> dict[str, str]:
    """Return the texts of the page by the names of the sections between marks."""
    return {"datasets": _datasets_text(source), "parts": _parts_text(source)}


def _datasets_text(source: ReportSource) -> str:
    """Return the tables of the datasets that are not cut into parts."""
    is_part = re.compile(rf" part \d+ of {N_PARTS}$").search
    whole = _with_runs(source, lambda run: not is_part(run.result.data_name))
    seconds = sum(run.result.seconds for run in source.runs)
    work = WORK.format(n=len(source.runs), minutes=round(seconds / 60))
    return f"{work}\n\n{document(dataset_tables(whole), 'markdown')}"


def _parts_text(source: ReportSource) -> str:
    """Return the ranks of each family, with links to the pictures that `pictures` yields."""
    texts = []
    for name, (title, _) in FAMILIES.items():
        texts.append(f"### {title}")
        for measure in ("MAP", "NDCG@10"):
            ranking = study_ranking([_family(source, name)], measure)
            text = str(document(ranking_tables(ranking), "markdown"))
            texts.append(re.sub("^## ", "#### ", text, flags=re.MULTILINE))
        texts.insert(-1, f"![Mean ranks by MAP](images/results/{name}.png)")
    return "\n\n".join(texts)


def pictures(source: ReportSource) -> Iterator[tuple[str, bytes]]:
    """Yield the critical-difference diagrams by MAP: name and contents of each file."""
    for name in FAMILIES:
        diagram = rank_diagram(study_ranking([_family(source, name)], "MAP"))
        yield f"{name}.png", figure_bytes(diagram, style_of("page"), "png", 200)


def _family(source: ReportSource, name: str) -> ReportSource:
    """Return the runs on the seven datasets by the methods of a family."""
    _, belongs = FAMILIES[name]
    divided = {Path(folder).name for folder in DIVIDED.values()}
    return _with_runs(
        source,
        lambda run: belongs(run.plan) and Path(run.plan.data).name not in divided,
    )


def _with_runs(source: ReportSource, wanted: Callable[..., bool]) -> ReportSource:
    """Return a source with some of its runs."""
    return replace(source, runs=tuple(run for run in source.runs if wanted(run)))


def written(page: str, texts: Mapping[str, str]) -> str:
    """Return the page with other texts between the marks of sections."""
    for name, text in texts.items():
        begin, end = (mark.format(section=name) for mark in (BEGIN, END))
        head, found_begin, rest = page.partition(begin)
        _, found_end, tail = rest.partition(end)
        if not found_begin or not found_end:
            raise SystemExit(f"{PAGE}: found no section {name} between marks.")
        page = f"{head}{begin}\n\n{text}\n\n{end}{tail}"
    return page


def read_source(path: Path) -> ReportSource:
    """Return all finished runs of a study."""
    with Study.open(path, reading=True) as study:
        return read_runs(study, choice=RunChoice(ALL_DATA), includes_hidden=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", default="auto")
    args = parser.parse_args()
    compute(args.data, args.out, args.workers)
    source = read_source(args.out / "study.rankstudio")
    PAGE.write_text(written(PAGE.read_text("utf-8"), sections(source)), "utf-8")
    IMAGES.mkdir(exist_ok=True)
    for name, contents in pictures(source):
        (IMAGES / name).write_bytes(contents)
