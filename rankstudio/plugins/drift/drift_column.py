"""The drift of each feature from the training to the validation part, as a column of the feature table."""

from __future__ import annotations

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.data.summary import shown_features
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.feature_columns import FeatureValue
from rankstudio.engine.support.number_format import fixed, percentage, signed
from rankstudio.engine.support.work import Waiting
from rankstudio.plugins.drift.feature_drift import FeatureDrift, feature_drift


def drift_of_parts(fold: Fold, convention: str) -> Waiting[dict[int, FeatureValue]]:
    """Compute the distance between a fold's training and validation part for each shown feature.

    The generator yields its progress. It returns a dict from the id of
    a feature to its distance, from 0 to 1, with a sentence; {} without
    a validation part. ``convention`` is that of Kendall's τ.
    """
    if fold.vali is None:
        return {}
    train = fold.train
    vali = fold.vali

    # Of very many features, only those that the table shows; None for all.
    columns = shown_features(train)
    if columns is not None:
        train = train.with_features(columns)
        vali = vali.with_features(columns)
    features = yield from feature_drift(train, vali, convention)
    return {
        drift.feature: FeatureValue(drift.distance, _drift_sentence(drift))
        for drift in features
    }


def _drift_sentence(drift: FeatureDrift) -> str:
    """Return a sentence on the differences of a feature between training and validation part."""
    text = tr(
        "From training to validation: the mean shifts by {shift} standard deviations, and the standard "
        "deviation is {scale} times as large. Constant in {train} and {vali} of the queries; τ "
        "with the label {tau} and {other}."
    )

    # Pairs of values, one of each part.
    train, vali = drift.constant
    train_tau, vali_tau = drift.correlation
    return text.format(
        shift=signed(drift.shift),
        scale=fixed(drift.scale, 2),
        train=percentage(train),
        vali=percentage(vali),
        tau=signed(train_tau),
        other=signed(vali_tau),
    )
