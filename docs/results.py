"""Write the section of results.md on selectors over several datasets.

rankstudio benchmark same-ranker --data FOLDER --out OUT --workers 1
python docs/results.py OUT
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rankstudio.engine.analysis.reported_runs import ReportSource, read_study
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support.escaping import markdown_escaped
from rankstudio.plugins.benchmark.commands.benchmark_tables import result_table
from rankstudio.plugins.method_ranks.mean_ranks import MethodRanking, study_ranking

PAGE = Path(__file__).parent / "results.md"
BEGIN = "<!-- Written by docs/results.py. -->"
END = "<!-- End of the section by docs/results.py. -->"

COMMAND = """\
<!-- not run: takes some minutes -->

```sh
rankstudio benchmark same-ranker --data letor --out OUT --workers 1
python docs/results.py OUT
```
"""

INTRODUCTION = """\
The first command computed these {n_runs} runs in {minutes} minutes on one busy core;
the second one wrote the tables. Validation MAP selects the parameters and k in every
fold. The rank on each dataset is in brackets, and **bold** is the best of a column.
"""

MEASURES = ("MAP", "NDCG@10")


def section(source: ReportSource) -> str:
    """Return the text between the marks: command, datasets, and a table for each measure."""
    rankings = [study_ranking([source], name) for name in MEASURES]
    minutes = sum(run.result.seconds for run in source.runs) / 60
    parts = [
        COMMAND,
        _introduction(rankings[0], len(source.runs), minutes),
        *(_table(ranking) for ranking in rankings),
        f"{' '.join(rankings[0].notes())}\n",
    ]
    return "\n".join(parts)


def _introduction(ranking: MethodRanking, n_runs: int, minutes: float) -> str:
    """Return the sentences on the runs, and a list of the datasets."""
    sentences = INTRODUCTION.format(n_runs=n_runs, minutes=round(minutes))
    scopes = [
        f"- **{dataset.name}**: {dataset.scope}, {convention(dataset.convention).label}"
        for dataset in ranking.table.datasets
    ]
    return "\n".join([sentences, *scopes, ""])


def _table(ranking: MethodRanking) -> str:
    """Return the table of a measure in Markdown, with the best values in bold."""
    table = result_table(ranking)
    rows = [
        [
            f"**{markdown_escaped(cell)}**"
            if (row, column) in table.bold
            else markdown_escaped(cell)
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(table.rows)
    ]
    header = [f"{ranking.table.measure}: {table.header[0]}", *table.header[1:]]
    aligned = ["---", *("---:" for _ in header[1:])]
    lines = [map(markdown_escaped, header), aligned, *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def written(page: str, text: str) -> str:
    """Return the page with another text between the marks."""
    pattern = rf"{re.escape(BEGIN)}.*?{re.escape(END)}"
    changed, n = re.subn(
        pattern, lambda _: f"{BEGIN}\n\n{text}\n{END}", page, flags=re.DOTALL
    )
    if n != 1:
        raise SystemExit(f"{PAGE}: found {n} sections between the marks, expected one.")
    return changed


if __name__ == "__main__":
    with Study.open(Path(sys.argv[1]) / "study.rankstudio", reading=True) as study:
        text = section(read_study(study))
    PAGE.write_text(written(PAGE.read_text("utf-8"), text), encoding="utf-8")
