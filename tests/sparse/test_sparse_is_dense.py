"""Every method and every command gives the numbers of dense data on the same data with sparse rows."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from sparse_draws import (
    COMMANDS,
    ENTRIES,
    NOT_DRAWN,
    REFUSED_COMMANDS,
    Place,
    carried_out,
    differences,
    drawn_run,
    is_refused_run,
    stored,
    write_data,
)

from rankstudio import cli
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.support.sparse_rows import SparseRows

COMMANDS_OF_A_CHECK = 2
"""Besides the run itself."""


def both(tmp_path: Path) -> tuple[Place, Place]:
    """Return the places of dense and of sparse rows, with the data that they share."""
    write_data(tmp_path / "data")
    places = tuple(
        Place(tmp_path / name, tmp_path / "data") for name in ("dense", "sparse")
    )
    for place in places:
        (place.root / "new").mkdir(parents=True)
    return places[0], places[1]


def test_a_drawn_run_and_commands_on_it(
    tmp_path: Path,
    sparse_number: int,
    sparse_seed: int,
    pytestconfig: pytest.Config,
    monkeypatch,
) -> None:
    rng = Random(f"{sparse_seed} {sparse_number}")
    # Each method has its turn; the checks begin at a drawn one.
    key = ENTRIES[
        (sparse_number + Random(sparse_seed).randrange(len(ENTRIES))) % len(ENTRIES)
    ].key
    values, chosen = drawn_run(rng, key), rng.random() < 0.3
    names = list(COMMANDS)
    if not pytestconfig.getoption("--sparse-runs"):
        names = rng.sample(names, COMMANDS_OF_A_CHECK)
    places = both(tmp_path)
    outcomes = []
    for place, sparse in zip(places, (False, True), strict=True):
        monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(place.root / "cache"))
        with stored(sparse=sparse, chosen=chosen):
            assert (
                isinstance(load_data(place.data / "train.txt").X, SparseRows) is sparse
            )
            outcomes.append(carried_out(place.run(values)))
    said = f"seed {sparse_seed}, number {sparse_number}: {values}"
    if not outcomes[0].status and is_refused_run(outcomes[1], key, places[1]):
        return
    assert not (odd := differences(*outcomes, places)), f"{said}\nrun: {odd}"
    if outcomes[0].status:
        return  # refused on dense rows, too
    odd_commands = {}
    for name in names:
        outcomes = []
        for place, sparse in zip(places, (False, True), strict=True):
            monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(place.root / "cache"))
            turn = Random(f"{sparse_seed} {sparse_number} {name}")
            with stored(sparse=sparse, chosen=chosen):
                outcomes.append(carried_out(COMMANDS[name](turn, place)))
        if key in REFUSED_COMMANDS.get(name, ()):
            assert outcomes[1].status == 1, f"{said}\n{name}: it is no longer refused"
        elif odd := differences(*outcomes, places):
            odd_commands[name] = odd
    assert not odd_commands, f"{said}\n" + "\n".join(
        f"{name}: {odd}" for name, odd in odd_commands.items()
    )


@pytest.mark.shipped
def test_every_command_is_drawn_or_has_a_reason_not_to_be(tmp_path: Path) -> None:
    place, _ = both(tmp_path)
    drawn = {command(Random(0), place)[0] for command in COMMANDS.values()}
    assert not drawn & NOT_DRAWN.keys()
    assert drawn | NOT_DRAWN.keys() == set(cli.known_commands())
