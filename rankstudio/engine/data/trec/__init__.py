"""What TREC's programs write: judgements (qrels) and ranked lists (runs)."""
