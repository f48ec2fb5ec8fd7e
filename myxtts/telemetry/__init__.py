"""What happened in a run, second by second: accounts, run.jsonl, GPU samples, sessions."""
