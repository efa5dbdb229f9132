"""Published experiments that ship as examples: each a fixture under `data/` and the package that runs it (SE-01)."""
