"""Device flags that cannot be meant, as train_main.py prints them: rule, received, why, remedy.

What only the machine can refuse (too few GPUs, an index out of range) is in test_devices.
"""

import pytest

from myxtts.cli.main import main

REFUSED = {
    "--data-gpu 0": """\
error: Dual-device mode needs both GPUs: one that prepares data and one that trains
  received: only data_gpu: 0
  so:       nothing says what the other GPU is for, and it is not guessed
  try:      add --model-gpu N, or leave both out to train on one device
""",
    "--model-gpu 1": """\
error: Dual-device mode needs both GPUs: one that prepares data and one that trains
  received: only model_gpu: 1
  so:       nothing says what the other GPU is for, and it is not guessed
  try:      add --data-gpu N, or leave both out to train on one device
""",
    "--data-gpu 1 --model-gpu 1": """\
error: The data GPU and the model GPU must be two different GPUs
  received: data_gpu: 1, model_gpu: 1
  so:       preparing and training would wait for each other
  try:      --data-gpu 0 --model-gpu 1, or leave both out to train on one device
""",
    "--enable-memory-isolation": """\
error: Memory isolation divides two GPUs, so both must be named
  received: enable_memory_isolation without data_gpu and model_gpu
  so:       there is nothing to isolate from anything
  try:      --data-gpu 0 --model-gpu 1 --enable-memory-isolation
""",
    "--data-gpu 0 --model-gpu 1 --data-gpu-memory 4096": """\
error: A memory limit takes effect only with memory isolation
  received: data_gpu_memory: 4096, model_gpu_memory: None
  so:       the limit would be ignored without a word
  try:      add --enable-memory-isolation, or drop the limits
""",
    "--plan one --data-gpu 0 --model-gpu 1": """\
error: The plan one trains on one device, so no GPU has a role of its own
  received: device_plan: one, data_gpu: 0, model_gpu: 1
  so:       one of the two cannot be meant
  try:      leave out --data-gpu and --model-gpu, or --plan dual
""",
    "--plan dual": """\
error: The plan dual needs both GPUs: one that prepares data and one that trains
  received: device_plan: dual without data_gpu and model_gpu
  so:       nothing says which GPU does what
  try:      --plan dual --data-gpu 0 --model-gpu 1
""",
    "--plan replicas --data-gpu 0 --model-gpu 1 --enable-memory-isolation": """\
error: Memory isolation divides a data GPU from a model GPU, and replicas are neither
  received: enable_memory_isolation with device_plan: replicas
  so:       the limits would be those of roles that no GPU has
  try:      leave out --enable-memory-isolation, or --plan dual
""",
    "--plan both": """\
error: data.device_plan in the command line: must be default, auto, one, dual or replicas
  received: data.device_plan: 'both' (str)
  try:      myxtts config show data.device_plan
""",
    "--virtual-gpus 9": """\
error: data.virtual_gpus in the command line: input should be less than or equal to 8
  received: data.virtual_gpus: 9 (int)
  try:      myxtts config show data.virtual_gpus
""",
    "--buffer-size 0": """\
error: data.pipeline_buffer_size in the command line: input should be greater than or equal to 1
  received: data.pipeline_buffer_size: 0 (int)
  try:      myxtts config show data.pipeline_buffer_size
""",
}


@pytest.mark.parametrize("flags", REFUSED)
def test_what_cannot_be_meant_is_refused(flags, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--train-data", "corpus", *flags.split()]) == 2
    assert capsys.readouterr().err == REFUSED[flags]
