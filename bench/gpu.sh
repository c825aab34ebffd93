#!/usr/bin/env bash
# The Triton kernels on an NVIDIA GPU, in six minutes at most: parity with the reference, whole models, timings.
#
#   bench/gpu.sh            # prints a table, writes gpu.json and the logs to $OUT, else to bench/out
#
# Needs a checkout and a Python with torch and triton; where there is none, or no pytest, pip gets them.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-bench/out}
mkdir -p "$out"
python=${PYTHON:-python3}
export PYTHONPATH=$PWD TRITON_CACHE_DIR=${TRITON_CACHE_DIR:-/tmp/deskagent-triton} PYTHONDONTWRITEBYTECODE=1
unset TRITON_INTERPRET

has() { "$python" -c "import $1" 2>/dev/null; }

if ! has torch,triton; then
  "$python" -m venv /tmp/deskagent-gpu && python=/tmp/deskagent-gpu/bin/python
  timeout 150 "$python" -m pip install -q torch triton numpy || { echo "torch and triton can't be installed"; exit 1; }
fi
has pytest,hypothesis || timeout 40 "$python" -m pip install -q pytest hypothesis 2>/dev/null
"$python" -c 'import torch; assert torch.cuda.is_available(), "no GPU"' || exit 1

failed=0
if has pytest,hypothesis; then
  timeout 150 "$python" -m pytest -q -p no:cacheprovider tests/kernels/parity tests/kernels/test_triton.py \
    tests/engine/test_on_triton.py -k triton >"$out/gpu-parity.log" 2>&1 || failed=1
  tail -n 15 "$out/gpu-parity.log"
else
  echo "no pytest or hypothesis: parity is not checked, whole models are"
fi
timeout 200 "$python" bench/engine_gpu.py --json "$out/gpu.json" || failed=1
exit $failed
