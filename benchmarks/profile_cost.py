PAIRS = 3
def measure(n): return {"pct": 0}
