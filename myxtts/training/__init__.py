"""From a loader's batches to a trained checkpoint."""
