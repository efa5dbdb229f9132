"""Writing that a kill, a full disk or a read-only one can interrupt anywhere without breaking anything (FA-04)."""
