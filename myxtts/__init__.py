"""MyXTTS: train a multilingual, voice-cloning speech model on one machine with two GPUs."""

__version__ = "0.1.0"
