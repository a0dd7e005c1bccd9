"""Several questions in one pass over the rows: an operator of operators."""
