"""Protocols and rules of a plan as text.

A protocol says how folds are made, and a rule which model is chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError, did_you_mean, nearest, shown
from rankstudio.engine.language import tr, translatable

GIVEN = "given"
LEAVE_QUERY_OUT = "leave-query-out"
_PROTOCOLS = translatable(
    '"given", "5-fold" (or another number from 2 up), "leave-query-out", "split 60/20/20" or "nested 20", '
    'with inner folds or a share of training queries, "5-fold, nested 4-fold, train 20%"'
)
# Texts of a protocol, in lower case.
_K_FOLD = re.compile(r"(\d{1,6})[- ]?folds?")
_SPLIT = re.compile(r"split (\d{1,3}) ?/ ?(\d{1,3}) ?/ ?(\d{1,3})")
_INNER = re.compile(r"nested (\d{1,6})[- ]?folds?")
_NESTED = re.compile(r"nested (\d{1,3}) ?%?")
_TRAIN = re.compile(r"train (\d{1,3}) ?%?")

BEST = "best"
ONE_SE = "one-se"
SMALLEST = "smallest"
_RULES = translatable(
    '"best", "smallest", "one-se" or "at most 10" (or another number from 1 up)'
)
_AT_MOST = re.compile(r"at most (\d{1,9})(?: features?)?")


@dataclass(frozen=True)
class Protocol:
    """Protocol of the folds of a run: how the queries are divided.

    Attributes
    ----------
    kind : str
        "given": the folds of the files. "k-fold", "leave-query-out",
        "split": see `k_fold`, `leave_query_out` and `single_split` of
        `rankstudio.engine.data.splitting.splits`. "nested": the given
        folds, with a validation part taken from the training queries of
        folds without one (`nested` there).
    numbers : tuple of int
        k of "k-fold"; the percentages of train, vali and test of
        "split"; the percentage for validation of "nested"; otherwise
        none.
    inner : int
        Number of inner folds that select the model, see
        `rankstudio.engine.data.splitting.splits`; 0 for none.
    train : int
        Percentage of the training queries that each fold keeps; 100 for
        all of them. Runs that differ only in this percentage are the
        points of a learning curve.
    """

    kind: Literal["given", "k-fold", "leave-query-out", "split", "nested"] = "given"
    numbers: tuple[int, ...] = ()
    inner: int = 0
    train: int = 100

    def __str__(self) -> str:
        """Return the protocol as users write it: "10-fold, nested 4-fold, train 20%"."""
        # k of k folds, or percentages of the parts.
        numbers = "/".join(map(str, self.numbers))
        outer = (
            f"{numbers}-fold"
            if self.kind == "k-fold"
            else f"{self.kind} {numbers}".strip()
        )
        inner = f", nested {self.inner}-fold" if self.inner else ""
        train = f", train {self.train}%" if self.train < 100 else ""
        # The given folds are not named before what follows: "nested 4-fold".
        return f"{outer}{inner}{train}".removeprefix(f"{GIVEN}, ")

    @property
    def validates(self) -> bool:
        """Whether each fold has queries that select the model, whatever the files of the data.

        Such queries are those of a validation part, or of the inner
        folds of a cross-validation.
        """
        match self.kind, self.numbers:
            case "k-fold", (k,):
                # One of the k folds tests and one validates, so that
                # training needs a third one.
                has_validation = k > 2
            case "split", (_, vali, _):
                has_validation = vali > 0
            case kind, _:
                # "nested" takes a validation part out of each training part.
                has_validation = kind == "nested"
        return has_validation or self.inner > 0

    def divided_by(self, seed: int) -> str:
        """Return the text by which a dataset records that this protocol made its folds.

        `seed` is the seed of the plan. The text is, for example,
        "10-fold, seed 1"; it is "" for the folds of the files.
        """
        seedless = {GIVEN: "", LEAVE_QUERY_OUT: LEAVE_QUERY_OUT}
        return seedless.get(str(self), f"{self}, seed {seed}")

    def divide(self, dataset: FoldedDataset, seed: int) -> FoldedDataset:
        """Return the dataset with the folds of this protocol; unchanged if it has them already.

        `seed` is the seed of the random division.

        Raises
        ------
        DatasetError
            If the queries of the dataset cannot be divided this way.
        PlanError
            If the folds were created by another protocol or seed, so
            the given folds are not available.
        """
        # Data that were divided otherwise cannot be divided again.
        divided_by = self.divided_by(seed)
        if dataset.divided_by == divided_by:
            return dataset
        if dataset.divided_by:
            text = tr(
                "protocol: the folds of {name} were created by {divided_by}, expected "
                "{how}. Open the data again."
            )
            raise PlanError(
                text.format(
                    name=dataset.name,
                    divided_by=dataset.divided_by,
                    how=divided_by or tr("the files"),
                )
            )

        # Folds first, then the share of their training queries, then the inner folds.
        divided_dataset = self._divide_outer(dataset, seed)
        if not self.inner and self.train == 100:
            return divided_dataset
        from rankstudio.engine.data.splitting import splits  # noqa: PLC0415 - most runs are on the given folds

        if self.train < 100:
            divided_dataset = splits.training_share(divided_dataset, self.train, seed)
        if self.inner:
            divided_dataset = splits.for_inner_folds(divided_dataset, self.inner, seed)
        return replace(divided_dataset, divided_by=divided_by)

    def _divide_outer(self, dataset: FoldedDataset, seed: int) -> FoldedDataset:
        """Return the dataset with the outer folds, which have all training queries."""
        from rankstudio.engine.data.splitting import splits  # noqa: PLC0415 - most runs are on the given folds

        match self.kind, self.numbers:
            case "k-fold", (k,):
                return splits.k_fold(dataset, k, seed)
            case "leave-query-out", ():
                return splits.leave_query_out(dataset)
            case "split", (train, vali, test):
                return splits.single_split(dataset, (train, vali, test), seed)
            case "nested", (percent,):
                return splits.nested(dataset, percent, seed)
            # The protocol "given" leaves the folds as they are in the files.
            case _:
                return dataset


def parse_protocol(text: str) -> Protocol:
    """Parse "given", "10-fold", "leave-query-out", "split 60/20/20", "nested 20" or "nested 5-fold".

    "nested 5-fold" may follow any other protocol except "nested 20",
    after a comma: "10-fold, nested 5-fold". "train 20%" may follow any
    protocol except "leave-query-out": "10-fold, train 20%".

    Raises
    ------
    PlanError
        For any other text.
    """
    plain_text = " ".join(text.lower().split())

    # The text is read from its end: "5-fold, nested 4-fold, train 20%"
    # is a share of "5-fold, nested 4-fold". A training share or inner
    # folds may follow a protocol.
    outer, comma, last = plain_text.rpartition(",")
    # A protocol may have only one of each, in this order; otherwise the
    # text matches nothing below, and is an error.
    if (match := _TRAIN.fullmatch(last.strip())) and 0 < int(match[1]) <= 100:
        protocol = parse_protocol(outer) if comma else Protocol()
        if protocol.train == 100 and protocol.kind != LEAVE_QUERY_OUT:
            return replace(protocol, train=int(match[1]))
    if match := _INNER.fullmatch(last.strip()):
        protocol = parse_protocol(outer) if comma else Protocol()
        has_inner = protocol.kind == "nested" or bool(protocol.inner)
        if int(match[1]) > 1 and not has_inner and protocol.train == 100:
            return replace(protocol, inner=int(match[1]))

    # Protocols of one part.
    if plain_text == GIVEN:
        return Protocol()
    if plain_text.replace(" ", "-") == LEAVE_QUERY_OUT:
        return Protocol("leave-query-out")
    if (match := _K_FOLD.fullmatch(plain_text)) and int(match[1]) > 1:
        return Protocol("k-fold", (int(match[1]),))
    if match := _SPLIT.fullmatch(plain_text):
        train, vali, test = (int(percent) for percent in match.groups())
        if train + vali + test != 100 or not (train and test):
            raise PlanError(
                tr(
                    "protocol: expected percentages of train, vali and test that add up to 100, with "
                    "more than 0 for train and test, got {text}."
                ).format(text=shown(text))
            )
        return Protocol("split", (train, vali, test))
    if (match := _NESTED.fullmatch(plain_text)) and 0 < int(match[1]) < 100:
        return Protocol("nested", (int(match[1]),))

    # Nothing matched: suggest the nearest protocol.
    message = tr("protocol: expected {protocols}, got {text}.")
    message = message.format(protocols=tr(_PROTOCOLS), text=shown(text))
    # the suggestion keeps a number of the text
    number = next(iter(re.findall(r"\d{1,6}", plain_text)), "5")
    examples = (
        f"{number}-fold",
        GIVEN,
        LEAVE_QUERY_OUT,
        "split 60/20/20",
        f"nested {number}",
        "nested 5-fold",
    )
    raise PlanError(f"{message} {did_you_mean(nearest(plain_text, examples))}".rstrip())


@dataclass(frozen=True)
class Rule:
    """Rule that selects a model.

    Attributes
    ----------
    kind : str
        "best": the best by the plan's measure. "smallest": the smallest
        model on the best one's path that is not significantly worse,
        paired over the queries. "one-se": the smallest model on that
        path within one standard error of the best. "at most": the best
        one with at most that number of features.
    most : int or None
        Maximum number of features of "at most".
    """

    kind: Literal["best", "smallest", "one-se", "at most"] = "best"
    most: int | None = None

    @property
    def needs_queries(self) -> bool:
        """Whether it compares values in each query, which a criterion does not have."""
        return self.kind in (ONE_SE, SMALLEST)

    def __str__(self) -> str:
        """Return the rule as in a plan: "at most 10"."""
        return self.kind if self.most is None else f"{self.kind} {self.most}"


def at_most(k: int) -> str:
    """Return the rule for the best model with at most k features, as written in plans."""
    return str(Rule("at most", k))


def parse_rule(text: str) -> Rule:
    """Parse a rule that selects a model: "best", "smallest", "one-se", "at most 10".

    Raises
    ------
    PlanError
        For any other text.
    """
    plain_text = " ".join(text.lower().split())
    if plain_text == BEST:
        return Rule()
    if plain_text == SMALLEST:
        return Rule("smallest")
    if plain_text == ONE_SE:
        return Rule("one-se")
    if (match := _AT_MOST.fullmatch(plain_text)) and int(match[1]) > 0:
        return Rule("at most", int(match[1]))
    message = tr("rule: expected {rules}, got {text}.").format(
        rules=tr(_RULES), text=shown(text)
    )
    examples = (BEST, SMALLEST, ONE_SE, "at most 10")
    raise PlanError(f"{message} {did_you_mean(nearest(plain_text, examples))}".rstrip())
