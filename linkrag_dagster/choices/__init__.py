"""The words that declarations and calls choose from: one list of each, which both check by."""
