"""Predictions of documents that were held out, from one decomposition: no model is learned for them."""
