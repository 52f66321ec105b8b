#!/bin/bash
set -e
export TP=${TP:-8} MODEL="meta/llama"
ARGS=(--tp "$TP" --port=$((30000 + 1)))
if [ -n "$DEBUG" ]; then ARGS+=(--log-level debug); else ARGS+=('--log-level' info); fi
for i in 0 1; do
  python3 -m sglang.launch_server --model-path "$MODEL" "${ARGS[@]}" \
    --node-rank $i <<EOF &
text $i
EOF
done
exec bash -c "python -m sglang.launch_server --host $'\x30' ${X:-"a  b"}"
