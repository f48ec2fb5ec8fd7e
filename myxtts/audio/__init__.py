"""Sound to spectrograms and back: decoding, log-mels, Griffin-Lim."""
