"""The methods: selectors, rankers, and the catalog that knows them all."""
