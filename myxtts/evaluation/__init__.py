"""Judges of speech: what is understood, whose voice it is, how far sound, pitch and time are off.

Each judge is a module of plain functions over samples or mel frames; `judge` asks all of them about
the same clips. They run offline, on the CPU, without TensorFlow. Who speaks, and how results look,
is decided elsewhere.
"""
