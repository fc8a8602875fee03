"""Methods that run a program in any language.

A selector's program writes an order or scores of the features. A ranker
has two commands: one writes a model, and one writes the scores of
documents.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.errors import MethodError, PlanError, one_line, shown
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    Description,
    Method,
    Seconds,
)
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.shared import (
    LEAVE_QUERY_OUT,
    RANKING_LAMBDA,
    SIZE,
)
from rankstudio.engine.methods.foreign.adapters import PredictingStep
from rankstudio.engine.methods.foreign.program import (
    FILES,
    MEMORY_LIMIT,
    NUMBERS,
    PLACEHOLDER,
    PREFIX,
    SETTING,
    THEN,
    TIME_LIMIT,
    RunsProgram,
    command_words,
)
from rankstudio.engine.methods.selection.base import Ordering, PathSelector, best_first
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Note, Waiting, WorkProgress, finish

_LIMITS = (
    Parameter(
        name=TIME_LIMIT,
        label=translatable("time limit"),
        kind=Kind.NUMBER,
        default=3600.0,
        help=translatable(
            "Seconds that the program may take for a fold; it is then ended."
        ),
        basic=False,
        offers_several=False,
        low=0.0,
        open_low=True,
    ),
    Parameter(
        name=MEMORY_LIMIT,
        label=translatable("memory limit"),
        kind=Kind.NUMBER,
        default=None,
        help=translatable("Gigabytes that the program may use; not on Windows."),
        basic=False,
        offers_several=False,
        low=0.0,
        open_low=True,
        none_label="none",
    ),
)


@dataclass(frozen=True)
class ProgramMethod(Method):
    """A method that runs a program; its key is the whole command line."""

    def load(self) -> type[Any]:
        """Return a new class of estimators that run the program, and whose steps are checked.

        Raises a PlanError if the program is not installed.
        """
        if self.lacking:
            raise PlanError(self.lacking)
        from rankstudio.engine.methods.foreign.guard import guarded  # noqa: PLC0415 - as a method is used

        base = type(
            self.label,
            (ProgramSelector if self.selects else ProgramRanker,),
            {"entry": self},
        )
        return guarded(base, self)


def method_of_command(key: str) -> Method:
    """Return the method that runs the program of a command line.

    Parameters
    ----------
    key : str
        ``"command:Rscript my.R {train} {order}"``. Placeholders:
        ``{train}``, a file in LETOR's format with features 1 to n;
        ``{order}``, a file to which the program writes the features,
        best first; or ``{scores}``, a file to which it writes one score
        per feature; ``{k}``, the number of features; ``{seed}``; and
        parameters with their defaults, ``{depth=3}``.

    Raises
    ------
    PlanError
        If the command line is empty, cannot be split into words, or has
        an unknown placeholder or no result.
    """
    words = command_words(key)
    # The placeholders of files and numbers, and the parameters that the
    # command declares.
    names, settings = _placeholders(key, words)
    is_ranker = _is_ranker(key, words, names)
    program_name = Path(words[0]).name
    # The command line without "command:"; titles are limited.
    title = one_line(key.removeprefix(PREFIX).strip())[:300]
    # The label is the name of the script, if a word looks like a file,
    # or else that of the program.
    scripts = [Path(word).name for word in words[1:] if "." in word and "{" not in word]
    label = scripts[0] if scripts else program_name
    # A program takes the seed of a run if it has a placeholder for it.
    # _LIMITS are the parameters that limit its time and memory; how
    # long it really takes is not known before a run.
    seed = ("seed",) if "seed" in names else ()
    origin = Origin(kind=OriginKind.COMMAND, name=program_name, version_or_checksum="")
    if is_ranker:
        return ProgramMethod(
            key=key,
            label=label,
            family="ranker",
            description=Description(
                citation=program_name,
                title=title,
                summary=tr(
                    "Runs a program that trains a model in each fold, and one that scores with it."
                ),
            ),
            estimator="",
            parameters=(*settings.values(), *_LIMITS),
            takes=seed,
            origin=origin,
            seconds=Seconds(fold=5.0, fit=0.1),
        )
    # A program that writes scores compares features by them. One that
    # writes an order has no scores.
    candidate_score = (
        CandidateScore(tr("score"), "", from_zero=False) if "scores" in names else None
    )
    return ProgramMethod(
        key=key,
        label=label,
        family="selector",
        description=Description(
            citation=program_name,
            title=title,
            summary=tr(
                "Runs a program on the training part of each fold; RankRLS ranks with its features."
            ),
        ),
        criterion=LEAVE_QUERY_OUT,
        ranks_with="RankRLS",
        estimator="",
        candidate_score=candidate_score,
        parameters=(RANKING_LAMBDA, SIZE, *settings.values(), *_LIMITS),
        takes=("groups", *seed),
        origin=origin,
        seconds=Seconds(fold=5.0, fit=0.1),
    )


def _placeholders(key: str, words: list[str]) -> tuple[set[str], dict[str, Parameter]]:
    """Return the names of a command line's placeholders, and the parameters that it declares, by name.

    A parameter is a placeholder with a default, ``{depth=3}``. If it
    occurs again, its first default counts. Raises a PlanError for an
    unknown placeholder. ``key`` is the whole command line, for the
    error, and ``words`` are its words.
    """
    settings: dict[str, Parameter] = {}
    names: set[str] = set()
    for name in (name for word in words for name in PLACEHOLDER.findall(word)):
        # A placeholder is a parameter with its default, a known name, or a mistake.
        setting = SETTING.fullmatch(name)
        if setting is not None:
            parameter_name, default = setting.groups()
            settings.setdefault(parameter_name, _parameter(parameter_name, default))
        elif name in (*FILES, *NUMBERS):
            names.add(name)
        else:
            placeholders_text = ", ".join(
                f"{{{placeholder}}}" for placeholder in (*FILES, *NUMBERS)
            )
            text = tr(
                "{key}: unknown placeholder {name}; expected {known}, or a parameter as in {example}."
            )
            arguments = {
                "key": one_line(key),
                "name": shown(name),
                "known": placeholders_text,
                "example": "{depth=3}",
            }
            raise PlanError(text.format(**arguments))
    return names, settings


def _is_ranker(key: str, words: list[str], names: set[str]) -> bool:
    """Check the placeholders of a command line, and return whether it is that of a ranker, not of a selector.

    ``key`` is the whole command line, for errors, ``words`` are its
    words, and ``names`` its placeholders, such as "train" and "scores".

    Raises
    ------
    PlanError
        If the command line has the placeholders neither of a selector
        nor of a ranker.
    """
    if THEN not in words:  # ";", between two commands
        # A command line of one command: a selector, which reads the
        # training data and writes one result.
        has_one_result = ("order" in names) != ("scores" in names)
        has_names_of_ranker = bool({"model", "documents"} & names)
        if "train" in names and has_one_result and not has_names_of_ranker:
            return False
        text = tr("{key}: expected {{train}}, and either {{order}} or {{scores}}.")
        raise PlanError(text.format(key=one_line(key)))
    # A command line of two commands: the first one trains, and the
    # second one scores with the model.
    middle = words.index(THEN)
    training_words = words[:middle]
    scoring_words = words[middle + 1 :]
    training_names = {
        name for word in training_words for name in PLACEHOLDER.findall(word)
    }
    scoring_names = {
        name for word in scoring_words for name in PLACEHOLDER.findall(word)
    }
    # A ranker has all features, so {k} and {order} are meaningless for it.
    can_train = {"train", "model"} <= training_names
    can_train = can_train and not {"documents", "scores", "order", "k"} & training_names
    can_score = {"model", "documents", "scores"} <= scoring_names
    can_score = can_score and not {"train", "order", "k"} & scoring_names
    if can_train and can_score and THEN not in scoring_words:
        return True
    text = tr(
        "{key}: expected a command with {{train}} and {{model}}, “;”, and one with {{model}}, "
        "{{documents}} and {{scores}}."
    )
    raise PlanError(text.format(key=one_line(key)))


def _parameter(name: str, default: str) -> Parameter:
    """Return the parameter of the method for a placeholder ``{name=default}`` of its command line."""
    label = name.replace("_", " ")
    about = tr("Parameter {name} of the program.").format(name=name)
    return Parameter(
        name=name,
        label=label,
        kind=Kind.TEXT,
        default=default.strip(),
        help=about,
    )


class ProgramSelector(RunsProgram, PathSelector):
    """Selector that orders features by a program.

    RankRLS ranks with the features.
    """

    def __init__(self, **values: Any) -> None:
        self.values = values
        self.n_features_to_select = values.get("n_features_to_select")
        self.regularization = values.get("regularization", 1.0)
        self.groups = values.get("groups", ())

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Run the program on the training documents, and return the first k features of the order that it writes.

        This is a generator: before it returns the Ordering, it yields
        progress, and a note with what the program prints.
        """
        documents: QueryData = data.whole(self.entry.label)
        n = data.X.shape[1]
        # The program reads the training documents from a file, and its
        # messages become a note.
        with tempfile.TemporaryDirectory(prefix="rankstudio-") as name:
            folder = Path(name)
            save_letor(_dataset(documents), folder / "train.txt", comments=False)
            messages = yield from self.run_words(
                command_words(self.entry.key), folder, k
            )
            if messages:
                yield Note(
                    tr("{label} printed: {text}").format(
                        label=self.entry.label, text=messages
                    )
                )
            # The program writes either scores, from which the order
            # follows, or the order itself. In an order, all features
            # have NaN as scores.
            scores_file = folder / "scores.txt"
            if scores_file.exists() or self.wants("scores"):
                scores = self._numbers(scores_file, n)
                return Ordering(best_first(scores, n)[:k], scores)
            return Ordering(
                self._ordered_columns(folder / "order.txt", n)[:k], np.full(n, np.nan)
            )

    def _numbers(self, path: Path, n: int) -> Floats:
        """Return the scores (n,) that a program wrote to a file, one per feature.

        ``path`` is that of the file. Raises a MethodError for an invalid file.
        """
        words = self.written_words(path)
        try:
            scores = np.array(words, dtype=np.float64)
        except ValueError as error:
            raise MethodError(
                self.entry.label, tr("scores: {error}").format(error=error)
            ) from error
        if scores.size != n or np.isnan(scores).all() or np.isinf(scores).any():
            text = tr("scores: expected {n} finite numbers, got {found}")
            raise MethodError(
                self.entry.label, text.format(n=n, found=shown(words[:20]))
            )
        return scores

    def _ordered_columns(
        self, path: Path, n: int
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the columns, from 0, that a program wrote to a file as numbers of features, from 1.

        ``path`` is that of the file, and ``n`` the number of features.
        Raises a MethodError for an invalid file.
        """
        words = self.written_words(path)
        # A word that is no number makes this list shorter than that of the words.
        numbers = [int(word) for word in words if word.isdecimal()]
        are_distinct_numbers = len(numbers) == len(words) > 0 and len(
            set(numbers)
        ) == len(numbers)
        if not are_distinct_numbers or min(numbers) < 1 or max(numbers) > n:
            text = tr("order: expected different numbers from 1 to {n}, got {found}")
            raise MethodError(
                self.entry.label, text.format(n=n, found=shown(words[:20]))
            )
        return np.array(numbers, dtype=np.int64) - 1


class ProgramRanker(RunsProgram, LinearRanker):
    """Ranker whose program trains a model with all given features, and scores documents with it."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return 1

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Run the program that trains, and yield progress events, and then one step: the model with all features."""
        documents = training_data(data).whole(self.entry.label)
        n = documents.X.shape[1]
        words = command_words(self.entry.key)
        # The command before ";" trains: it reads the documents from a
        # file, and writes its model to another one.
        with tempfile.TemporaryDirectory(prefix="rankstudio-") as name:
            folder = Path(name)
            save_letor(_dataset(documents), folder / "train.txt", comments=False)
            messages = yield from self.run_words(words[: words.index(THEN)], folder, n)
            if messages:
                yield Note(
                    tr("{label} printed: {text}").format(
                        label=self.entry.label, text=messages
                    )
                )
            model = self.written_bytes(folder / "model.txt")
        # The model is a file of unknown form, so the importance of each
        # feature is not known: all are 1.
        yield PredictingStep(
            number=1,
            selected=tuple(range(n)),
            coef=np.ones(n),
            criterion=float("nan"),
            candidates=np.empty(0),
            label=self.entry.label,
            model=ProgramModel(self, model),
        )

    def scores(self, model: bytes, X: Floats) -> Floats:
        """Run the command after ";", which scores documents with a model, and return the scores.

        Parameters
        ----------
        model : bytes
            Contents of the file that the first command wrote.
        X : ndarray of shape (m, n)
            Features of the documents.

        Returns
        -------
        ndarray of shape (m,)
            Scores. Raises a MethodError if the program fails, or writes
            anything but a score per document.
        """
        words = command_words(self.entry.key)
        # The command after ";" scores. It reads the model and the
        # documents from files. The documents are one query, and have
        # labels of 0, because the file's format wants labels.
        with tempfile.TemporaryDirectory(prefix="rankstudio-") as name:
            folder = Path(name)
            (folder / "model.txt").write_bytes(model)
            documents = QueryData(X, np.zeros(X.shape[0]), np.array([0, X.shape[0]]))
            save_letor(_dataset(documents), folder / "documents.txt", comments=False)
            finish(self.run_words(words[words.index(THEN) + 1 :], folder, X.shape[1]))
            lines = self.written_lines(folder / "scores.txt")
        try:
            # A line may contain more; the score is its last word.
            scores = np.array(
                [line.split()[-1] for line in lines if line.strip()], dtype=np.float64
            )
        except ValueError as error:
            raise MethodError(
                self.entry.label, tr("scores: {error}").format(error=error)
            ) from error
        if scores.size != X.shape[0]:
            text = tr("scores: expected {n} lines, got {found}")
            raise MethodError(
                self.entry.label, text.format(n=X.shape[0], found=scores.size)
            )
        return scores


@dataclass(frozen=True, eq=False)
class ProgramModel:
    """A model that a program has trained, and that the program scores documents with.

    Attributes
    ----------
    ranker : ProgramRanker
        Method with the command that scores documents.
    file : bytes
        Contents of the file that the program wrote.
    """

    ranker: ProgramRanker
    file: bytes

    def predict(self, X: Floats) -> Floats:
        """Return the scores (m,) of documents X (m, n), which the program computes."""
        return self.ranker.scores(self.file, X)


def _dataset(data: QueryData) -> RankingDataset:
    """Return documents as a dataset, to be written to a file, with features and queries numbered from 1."""
    n_queries = data.ptr.size - 1
    n = data.X.shape[1]
    ids = np.arange(1, n + 1)
    names = tuple(f"feature {i}" for i in range(1, n + 1))
    queries = tuple(str(q) for q in range(1, n_queries + 1))
    return RankingDataset(
        X=np.asarray(data.X),
        y=np.asarray(data.y),
        query_ptr=data.ptr,
        query_ids=queries,
        feature_ids=ids,
        feature_names=names,
    )
