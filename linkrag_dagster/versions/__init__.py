"""Specs, fingerprints and the planner: what decides that a row is stale."""
