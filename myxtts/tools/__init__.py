"""Tools over recorded runs: measure → save → analyse → render. Rules are pure functions."""
