"""The averages that papers and LETOR have published for the known datasets."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from rankstudio.engine.analysis.comparisons.published import Published
from rankstudio.engine.support.resources import resource
from rankstudio.plugins.papers.reproduction import load_reproduction


def numbers() -> tuple[Published, ...]:
    """Return the published averages that are known: those in ``results.csv``, then FSMRank's."""
    with resource("published", "results.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        # The values in the file are texts.
        listed = [
            Published(**{**row, "value": float(row["value"])})  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        ]

    # The paper repeats some of LETOR's numbers, which are left out.
    # `when` names the conditions of a number.
    letor_numbers = {
        (p.dataset, p.method, p.when, p.measure, p.value)
        for p in listed
        if "LETOR" in p.source
    }
    paper_numbers = _averages_of_paper("fsmrank", "Lai et al. 2013")
    return (
        *listed,
        *(
            p
            for p in paper_numbers
            if (p.dataset, p.method, p.when, p.measure, p.value) not in letor_numbers
        ),
    )


def _averages_of_paper(key: str, authors: str) -> Iterator[Published]:
    """Yield the averages over folds that a paper prints, with the conditions of its runs.

    ``key`` names the paper, and ``authors`` are named in the source of
    each number.
    """
    paper = load_reproduction(key)
    for printed in paper.tables:
        for name, values in printed["rows"].items():
            run = paper.runs[name]
            for measure, value in zip(printed["measures"], values, strict=True):
                yield Published(
                    dataset=printed["dataset"],
                    method=run["method"],
                    ranker=run.get("ranker", ""),
                    when=run.get("when", ""),
                    label=name,
                    measure=measure,
                    value=value,
                    source=f"{authors}, {printed['number']}",
                )
