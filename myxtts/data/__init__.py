"""Data: a corpus on disk → text cache and feature store → static-shape host batches.

`corpora` reads what a corpus lists, `corpus_check` says what is wrong with it, `prepare` brings the
caches up to date, `recipe` says what a feature store holds, `buckets` and `sampler` decide shapes
and order, `loader` gathers batches. Nothing here knows a model or a device.
"""
