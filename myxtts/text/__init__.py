"""Text to tokens: languages, normalisation, phonemes, numbers for the model."""
