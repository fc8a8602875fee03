"""Tables with a query column: CSV, Parquet, Arrow and frames in memory."""
