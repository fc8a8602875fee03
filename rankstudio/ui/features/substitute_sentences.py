"""What is said of substitutes: a sentence for each cluster with a selected feature in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, isnan, log10
from typing import TYPE_CHECKING

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_groups import Groups, group_names
from rankstudio.ui.language import either, together, tr, trn
from rankstudio.ui.style.number_format import correlation_text, signed

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.substitutes import GroupSwap, SubstituteGroup, Substitutes, Swap

_NAMED = 5  # features of a cluster that are named beside the selected ones
_DECIMALS = 4
_LEAST = 1e-9  # of a change: what is less is none
_NOTHING_LIKE = tr("no unselected feature is similar")
_ALL_SELECTED = tr("all features are selected")
_UNLIKE = 0.005  # |r| that would be written as 0.00


@dataclass(frozen=True)
class SubstituteSentence:
    """What is said of some features.

    Attributes
    ----------
    title : str
        Which they are: "LMIR.DIR of body (39) or 23 or 40".
    text : str
        How alike, and what a swap costs: "r ≥ 0.95; BM25 of body (23) for 39: +0.0004 per document".
    hint : str
        All of them by name.
    feature : int
        Id of the selected one, to be looked at.
    """

    title: str
    text: str
    hint: str = ""
    feature: int | None = None


def substitute_sentences(
    found: Substitutes, ids: Ints, names: Sequence[str], groups: Groups | None = None
) -> tuple[SubstituteSentence, ...]:
    """Return a sentence for each group, those first with a swap that would make the model better.

    Parameters
    ----------
    found : Substitutes
    ids, names : of length n
        Of the data's columns.
    groups : Mapping of str to tuple of int, optional
        Of features, by their ids.
    """
    lonely = [group for group in found.groups if _is_lonely(group)]
    several = lonely if len(lonely) > 1 else []
    better = [swap for swap in found.better if swap.change <= -_LEAST]
    told = [(_fall(better), _better_sentence(better, ids, names))] if better else []
    told += [
        (_fall(group.swaps), _group_sentence(group, ids, names))
        for group in found.groups
        if group not in several
    ]
    if several:
        told.append((0.0, _lonely_sentence(several, ids, names)))
    told += [
        (_fall([swap]), _group_swap_sentence(swap, ids, names, groups or {})) for swap in found.group_swaps
    ]
    ordered = [sentence for _, sentence in sorted(told, key=lambda one: one[0])]  # stable where none falls
    if found.why_no_swaps:
        ordered.append(SubstituteSentence("", tr(found.why_no_swaps)))
    return tuple(ordered)


def _fall(swaps: Iterable[Swap | GroupSwap]) -> float:
    """Return by how much the best of some swaps lowers the criterion, as a negative number; 0 for none."""
    least = min((swap.change for swap in swaps if not isnan(swap.change)), default=0.0)
    return least if least <= -_LEAST else 0.0


def change_text(change: float) -> str:
    """Return a change with as many decimals as it needs: "+0.0004", "−0.000003", "no change"."""
    if abs(change) < _LEAST:
        return tr("no change")
    return signed(change, _decimals(change))


def size_text(change: float) -> str:
    """Return the size of a change that is one, without its sign: "0.0004"."""
    return f"{abs(change):.{_decimals(change)}f}"


def _decimals(change: float) -> int:
    return max(_DECIMALS, -floor(log10(abs(change))))


def _group_sentence(group: SubstituteGroup, ids: Ints, names: Sequence[str]) -> SubstituteSentence:
    chosen = together([f"{names[column]} ({ids[column]})" for column in group.selected])
    title = either([chosen, *(str(ids[column]) for column in group.others[:_NAMED])])
    more = len(group.others) - _NAMED
    if more > 0:
        title = tr("{first} and {n} more").format(first=title, n=more)
    if len(group.selected) == 1 and not group.others:
        title = tr("{feature} alone").format(feature=chosen)
    parts = []
    if not isnan(group.least):
        text = "|r| ≥ {r}" if group.others else tr("|r| ≥ {r} between them")
        parts.append(text.format(r=_floored(group.least)))
    parts += _swap_texts(group, ids, names)
    members = (*group.selected, *group.others)
    hint = "\n".join(f"{ids[column]} {names[column]}" for column in members)
    return SubstituteSentence(title, "; ".join(dict.fromkeys(parts)), hint, int(ids[group.selected[0]]))


def _is_lonely(group: SubstituteGroup) -> bool:
    """Tell whether it is one feature of which only can be said that no other one is like it."""
    unlike = all(abs(swap.correlation) < _UNLIKE and isnan(swap.change) for swap in group.swaps)
    return len(group.selected) == 1 and not group.others and unlike


def _lonely_sentence(
    groups: Sequence[SubstituteGroup], ids: Ints, names: Sequence[str]
) -> SubstituteSentence:
    columns = [group.selected[0] for group in groups]
    why = _NOTHING_LIKE if any(group.swaps for group in groups) else _ALL_SELECTED
    return SubstituteSentence(
        tr("{n_columns} features without substitutes").format(n_columns=len(columns)),
        f"{', '.join(str(ids[column]) for column in columns)}: {why}",
        "\n".join(f"{ids[column]} {names[column]}" for column in columns),
        int(ids[columns[0]]),
    )


def _swap_texts(group: SubstituteGroup, ids: Ints, names: Sequence[str]) -> list[str]:
    """Return what is said of a group's swaps, once of a feature that is nearest to several selected ones."""
    alike, told = bool(group.others), []
    for swap in group.swaps:
        same = [
            s
            for s in group.swaps
            if s.added == swap.added and isnan(s.change) and abs(s.correlation) >= _UNLIKE
        ]
        if swap not in same or len(same) < 2:
            told.append(_swap_text(swap, ids, names, alike=alike))
        elif swap is same[0] and swap.added is not None:
            added = f"{names[swap.added]} ({ids[swap.added]})"
            near = ", ".join(f"{ids[s.removed]} (r = {correlation_text(s.correlation)})" for s in same)
            told.append(_nearest(alike).format(added=added, near=near))
    return told


def _swap_text(swap: Swap, ids: Ints, names: Sequence[str], *, alike: bool) -> str:
    """Return what is said of a swap; of one inside a cluster r need not be said where its change is known."""
    assert swap.added is not None  # of a group of features, never leaving out
    added, removed = f"{names[swap.added]} ({ids[swap.added]})", ids[swap.removed]
    if not alike and abs(swap.correlation) < _UNLIKE:
        return _NOTHING_LIKE
    if not isnan(swap.change):
        r = "" if alike else f" (r = {correlation_text(swap.correlation)})"
        return tr("{added} for {removed}{r}: {swap}").format(
            added=added, removed=removed, r=r, swap=_per_document(swap)
        )
    return _nearest(alike).format(added=added, near=f"{removed} (r = {correlation_text(swap.correlation)})")


def _nearest(alike: bool) -> str:
    if alike:
        return tr("{added} is most similar to {near}")
    return tr("{added} is the unselected feature most similar to {near}")


def _group_swap_sentence(
    swap: GroupSwap, ids: Ints, names: Sequence[str], groups: Groups
) -> SubstituteSentence:
    group_of = group_names(groups)

    def called(columns: tuple[int, ...]) -> str:
        first = columns[0]
        listed = ", ".join(str(ids[column]) for column in columns)
        return f"{group_of.get(int(ids[first]), names[first])} ({listed})"

    change, removed = change_text(swap.change), called(swap.removed)
    per = change if abs(swap.change) < _LEAST else tr("{text} per document").format(text=change)
    return SubstituteSentence(
        tr("{removed} as a whole").format(removed=removed) if len(swap.removed) > 1 else removed,
        tr("best replaced by {added}: {change}").format(added=called(swap.added), change=per),
        "\n".join(f"{ids[column]} {names[column]}" for column in (*swap.removed, *swap.added)),
        int(ids[swap.removed[0]]),
    )


def _better_sentence(better: Sequence[Swap], ids: Ints, names: Sequence[str]) -> SubstituteSentence:
    first, more = better[0], len(better) - 1
    by = size_text(first.change)
    text = tr("Lowers the leave-query-out error by {change} per document.").format(change=by)
    if more:
        text = trn(
            "Lowers the leave-query-out error by {change} per document. {n} other change lowers it, too.",
            "Lowers the leave-query-out error by {change} per document. {n} other changes lower it, too.",
            more,
        ).format(change=by, n=more)
    feature = first.removed if first.added is None else first.added
    return SubstituteSentence(
        _change_named(first, ids, names),
        text,
        "\n".join(f"{_change_named(swap, ids, names)}: {_per_document(swap)}" for swap in better),
        int(ids[feature]),
    )


def _change_named(swap: Swap, ids: Ints, names: Sequence[str]) -> str:
    """Return what a change of a model is: "e (50) instead of 10", "Leaving out a (10)"."""
    if swap.added is None:
        text = tr("Leaving out {name} ({id})")
        return text.format(name=names[swap.removed], id=ids[swap.removed])
    text = tr("{name} ({id}) instead of {removed}")
    return text.format(name=names[swap.added], id=ids[swap.added], removed=ids[swap.removed])


def _per_document(swap: Swap) -> str:
    text = change_text(swap.change)
    return text if abs(swap.change) < _LEAST else tr("{text} per document").format(text=text)


def _floored(value: float) -> str:
    """Return a bound with two decimals that the value is not below."""
    return f"{floor(value * 100 + 1e-9) / 100:.2f}"
