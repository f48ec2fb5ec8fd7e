"""The speech model, written with `keras.ops` alone: it knows no files, no devices, no training."""
