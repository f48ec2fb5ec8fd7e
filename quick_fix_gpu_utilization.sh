#!/usr/bin/env bash
# Thin front of `myxtts fix`: prerequisites, diagnosis, recommended configuration, what to run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$root/.venv/bin/python
[[ -x $python ]] || python=$(command -v python3 || command -v python) || {
  echo "error: there is no Python here; install Python 3.11 or newer" >&2
  exit 1
}
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
"$python" -c 'import typer, pydantic, ruamel.yaml' 2>/dev/null || {
  echo "error: MyXTTS is not installed for $python; run: pip install -e \".[cpu,phonemes]\"" >&2
  exit 1
}
exec "$python" -c 'import sys; from myxtts.cli.main import main; sys.exit(main(["fix", *sys.argv[1:]], "quick_fix_gpu_utilization.sh"))' "$@"
