"""Six methods compared without the test part, beside what the test part then says.

    python benchmarks/sealed_comparison.py --data MQ2008

prints for each method the mean of its chosen models on the validation part that chose them, the cross-fitted
mean of the same queries, and the mean on the test part, each averaged over the folds. The rows are in the
order of the cross-fitted means.
"""

from __future__ import annotations

from record import Record, parser

from rankstudio.engine import Plan, RunResult, open_dataset, run_plan
from rankstudio.engine.experiment.results.part import Part

PARTS = (Part.CHOSEN_ON, Part.CROSS_FITTED, Part.TEST)


def plans(data: str) -> list[Plan]:
    """Return the plans: grids of the methods' defaults, and the L1 path with one λ."""
    ranked = [
        Plan(data, method, ranker="rankrls")
        for method in ("expected-divergence", "gas")
    ]
    return [
        Plan(data, "greedy-rankrls"),
        Plan(data, "fsmrank"),
        *ranked,
        Plan(data, "l1-path", {"regularization": 1.0}),
        Plan(data, "mutual-information", ranker="rankrls"),
    ]


def main() -> None:
    """Run all methods, and print the table."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--data", required=True, help="a folder of folds, such as MQ2008"
    )
    arguments.add_argument("--measure", default="MAP")
    args = arguments.parse_args()
    record = Record(args.json)
    dataset = open_dataset(args.data)
    runs: list[RunResult] = []
    for plan in plans(args.data):
        measured = plan.changed(
            measures=(args.measure,),
            select_by=args.measure,
            convention=dataset.convention,
        )
        runs.append(run_plan(measured, dataset))
    means = {
        run.plan.title: [run.average_on(part)[args.measure] for part in PARTS]
        for run in runs
    }
    print(
        f"| {args.measure} | on the part chosen on | cross-fitted | test |\n|---|---:|---:|---:|"
    )
    for title, (chosen_on, cross_fitted, test) in sorted(
        means.items(), key=lambda row: -row[1][1]
    ):
        print(f"| {title} | {chosen_on:.4f} | {cross_fitted:.4f} | {test:.4f} |")
        record.add(
            "sealed comparison",
            title,
            chosen_on=chosen_on,
            cross_fitted=cross_fitted,
            test=test,
        )
    record.save()


if __name__ == "__main__":
    main()
