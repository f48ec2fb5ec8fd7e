"""Data: a corpus on disk → text cache and feature store → static-shape host batches.

`ljspeech` reads the metadata, `prepare` brings the caches up to date, `recipe` says what a feature
store holds, `buckets` and `sampler` decide shapes and order, `loader` gathers batches. Nothing here knows a model or a device.
"""
