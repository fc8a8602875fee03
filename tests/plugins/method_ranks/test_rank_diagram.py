"""The critical-difference diagram: where lines and texts are, and what other programs get of it."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from demsar_example import AUC, DATASETS, METHODS

from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import style_of
from rankstudio.plugins.method_ranks.compared_methods import (
    ComparedDataset,
    MethodTable,
)
from rankstudio.plugins.method_ranks.diagram_layout import laid_out
from rankstudio.plugins.method_ranks.mean_ranks import ranking_of
from rankstudio.plugins.method_ranks.rank_diagram import (
    RankDiagram,
    rank_diagram,
    tikz_text,
)
from rankstudio.plugins.method_ranks.ranking_tables import (
    ranking_as_dict,
    ranking_tables,
    values_csv,
)

HOSTILE = (
    "=cmd|' <script>alert(1)</script> $x$ & 100 % \\input{a} #_{}~^ \n\x1b[31m\u202e"
)


def demsar(methods=METHODS, datasets=DATASETS, alpha=0.10):
    places = tuple(ComparedDataset(name, "test", "test", "letor") for name in datasets)
    return ranking_of(MethodTable("MAP", tuple(methods), places, AUC), alpha)


def text_width(text):
    return 0.5 * len(text)


class TestLayout:
    DIAGRAM = rank_diagram(demsar())

    def test_demsars_figure_has_two_bars(self):
        layout = laid_out(self.DIAGRAM, 40, text_width)
        bars = [stroke for stroke in layout.strokes if stroke.kind == "group"]
        assert len(bars) == 2
        # they overlap, and are below each other
        assert len({bar.points[0][1] for bar in bars}) == 2

    def test_ranks_are_in_proportion(self):
        layout = laid_out(self.DIAGRAM, 40, text_width)
        stems = [
            stroke.points[0][0] for stroke in layout.strokes if stroke.kind == "stem"
        ]
        axis = next(stroke.points for stroke in layout.strokes if stroke.kind == "axis")
        unit = (axis[1][0] - axis[0][0]) / 3
        assert stems == pytest.approx(
            [axis[0][0] + (rank - 1) * unit for rank in self.DIAGRAM.ranks]
        )
        length = next(
            stroke.points for stroke in layout.strokes if stroke.kind == "difference"
        )
        assert length[1][0] - length[0][0] == pytest.approx(
            self.DIAGRAM.difference * unit
        )

    @pytest.mark.parametrize("k", [2, 3, 7, 50, 200])
    def test_everything_is_within_the_page_and_names_are_clear_of_each_other(self, k):
        names = tuple(f"method {n}" for n in range(k))
        ranks = tuple(1 + n * (k - 1) / k for n in range(k))
        layout = laid_out(
            RankDiagram("d", "", "", names, ranks, ((0, k - 1),), 1e3), 30, text_width
        )
        points = [point for stroke in layout.strokes for point in stroke.points]
        assert all(
            0 <= x <= layout.width and 0 <= y <= layout.height for x, y in points
        )
        for align in ("left", "right"):
            places = sorted(
                t.y
                for t in layout.texts
                if t.align == align and t.text.startswith("method")
            )
            assert all(b - a >= 1.4 for a, b in pairwise(places))

    def test_without_tests_there_is_no_difference(self):
        layout = laid_out(
            RankDiagram("d", "", "", ("a", "b"), (1.0, 2.0)), 30, text_width
        )
        assert {stroke.kind for stroke in layout.strokes} == {"axis", "stem"}

    def test_long_names_at_one_side_have_what_short_ones_at_the_other_leave(self):
        names = ("expected divergence of pairs", "b", "c", "d")  # 14 and .5 wide
        diagram = RankDiagram("d", "", "", names, (1.0, 2.0, 3.0, 4.0))
        layout = laid_out(diagram, 30, text_width)
        [name] = [text for text in layout.texts if text.text == names[0]]
        assert name.max_width >= text_width(names[0])
        assert name.x - text_width(names[0]) >= 0
        # Names that are long at both sides share the width.
        names = (names[0], "b", "c", names[0])
        layout = laid_out(
            RankDiagram("d", "", "", names, diagram.ranks), 30, text_width
        )
        widths = {text.max_width for text in layout.texts if text.text == names[0]}
        assert max(widths) < 11

    def test_numbers_of_many_ranks_do_not_touch(self):
        names = tuple(map(str, range(200)))
        layout = laid_out(
            RankDiagram("d", "", "", names, tuple(range(1, 201))), 30, text_width
        )
        ticks = [text.x for text in layout.texts if text.align == "center"]
        assert all(b - a >= 2.5 for a, b in pairwise(ticks))


class TestFiles:
    def test_paper_screen_and_numbers(self):
        diagram = rank_diagram(demsar())
        assert figure_bytes(diagram, style_of(), "pdf").startswith(b"%PDF")
        assert figure_bytes(
            diagram, style_of("page", colors="print"), "png"
        ).startswith(b"\x89PNG")
        texts = "".join(
            ElementTree.fromstring(figure_bytes(diagram, style_of(), "svg")).itertext()
        )
        assert "C4.5+m+cf" in texts
        assert "CD = 1.12" in texts
        lines = figure_bytes(diagram, style_of(), "csv").decode().splitlines()
        assert [line.rpartition(",")[2] for line in lines[1:]] == ["1", "1", "1 2", "2"]
        assert figure_bytes(diagram, style_of(), "pdf") == figure_bytes(
            diagram, style_of(), "pdf"
        )

    def test_hostile_names_are_text(self):
        ranking = demsar((HOSTILE, *METHODS[1:]), (HOSTILE, *DATASETS[1:]))
        diagram = rank_diagram(ranking)
        for form in ("pdf", "png", "svg", "csv"):
            assert figure_bytes(diagram, style_of(), form)
        assert b"<script" not in figure_bytes(diagram, style_of(), "svg")
        tikz = tikz_text(diagram)
        assert "\x1b" not in tikz
        body = tikz.partition("\n")[2].removesuffix("%\n")
        assert not re.search(r"(?<!\\)[%#&]|\\input", body)
        assert all(line.endswith((";", "]", "}%")) for line in tikz.splitlines()[1:])
        assert values_csv(ranking).splitlines()[1].startswith("\"'=cmd")

    def test_tikz_names_every_method_once(self):
        tikz = tikz_text(rank_diagram(demsar()))
        assert tikz.count(r"\node") == len(METHODS) + 4 + 1
        # everything but the names is within the column
        xs = [float(x) for x in re.findall(r"\(([-\d.]+),", tikz)]
        assert min(xs) == 0
        assert max(xs) == 30
        for name in METHODS:
            assert f"{{{name}}};" in tikz

    def test_a_diagram_without_methods_is_empty(self):
        assert RankDiagram("d", "", "").empty
        assert not rank_diagram(demsar()).empty


class TestTables:
    def test_the_ranking_of_the_printed_example(self):
        ranks, pairs, wins, scores = ranking_tables(demsar())
        assert [row[:2] for row in ranks.rows] == [
            ("C4.5+m+cf", "1.964"),
            ("C4.5+m", "2.000"),
            ("C4.5+cf", "2.893"),
            ("C4.5", "3.143"),
        ]
        assert [row[4] for row in ranks.rows] == ["a", "a", "ab", "b"]
        assert "chi-square 9.28" in ranks.note
        assert "F 3.69" in ranks.note
        assert "0.1 is 1.12" in ranks.note
        assert len(pairs.rows) == 6
        assert wins.rows[0][1] == "–"
        assert len(scores.rows) == 14

    def test_plain_values_are_complete(self):
        plain = ranking_as_dict(demsar())
        assert plain["friedman"]["chi_square"] == pytest.approx(9.28, abs=0.01)
        assert len(plain["pairs"]) == 6
        assert all(
            not math.isnan(pair["posterior"]["first"]) for pair in plain["pairs"]
        )
