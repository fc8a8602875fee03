"""Maps of features: a row each, in an order that does not change with what is shown of them."""
