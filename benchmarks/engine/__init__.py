"""How fast the engine is, in ratios of one run: one file per experiment."""
