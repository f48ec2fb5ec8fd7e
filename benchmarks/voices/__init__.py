"""The parts of `voice.py`: corpora of known speakers, trainings on them, and what is heard."""
