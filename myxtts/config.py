"""One typed tree of settings: what a run is told.

A configuration is immutable and complete: the YAML file fills it, flags override single fields,
everything else reads it. A mistake becomes a `UsageError` that names the key, the line and what to
type. Reading and writing YAML files is `config_file`'s job; placing devices is `devices`'.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from myxtts.errors import UsageError

ModelSizeName = Literal["tiny", "small", "normal", "big"]
Auto = Literal["auto"] | bool
Precision = Literal["auto", "bfloat16", "float16"] | bool
# The codes of `text.languages.LANGUAGES`, in its order (a test compares the two).
LanguageCode = Literal[
    "en", "fa", "ar", "cs", "de", "es", "fr", "hi", "hu",
    "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "zh",
]  # fmt: skip


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


class DataConfig(_Section):
    """Corpus, features, batches, and the way from the disk to the model's device."""

    train_data: str | None = None
    """Folder of the training corpus (it holds metadata.csv and the audio)."""
    val_data: str | None = None
    """Folder of the validation corpus; none: no validation."""
    cache_dir: str | None = None
    """Where prepared text and features are kept; none: `.myxtts` inside the corpus folder."""
    language: Literal["auto"] | LanguageCode = "auto"
    """Language of clips that name none: a code such as `en` or `fa`, or `auto` to detect it."""
    languages: list[LanguageCode] = Field(["en", "fa"], min_length=1)
    """Languages of the corpus; detection chooses among these."""
    text_units: Literal["phonemes", "characters"] = "phonemes"
    """What the model reads: espeak-ng phonemes (extra `phonemes`) or plain characters."""
    sample_rate: int = Field(22050, ge=8000, le=48000)
    """Samples a second of the prepared audio, in Hz."""
    n_mels: int = Field(80, ge=16, le=256)
    """Mel bins of a spectrogram frame."""
    batch_size: int = Field(16, ge=1, le=4096)
    """Clips in a batch of the median bucket; the others scale to about the same frames."""
    num_workers: int = Field(0, ge=0, le=256)
    """Workers of preparation and loading; 0: as many as the machine has cores."""
    use_tf_native_loading: bool = True
    """true: batches come from the memory-mapped store by tf.data; false: per clip in Python."""
    features: Literal["cached", "live"] = "cached"
    """cached: mels from the store; live: mels computed from PCM on the data device."""
    trim_silence: bool = False
    """Cut silence off both ends of each clip when it is prepared; 50 ms of it stay."""
    loudness: float | None = Field(None, ge=-60.0, le=0.0)
    """Level of each prepared clip's speech in dB below full scale (-23 is usual); none: as is."""
    augment_gain_db: float = Field(0.0, ge=0.0, le=40.0)
    """Each clip and its reference are made louder or softer alike, by at most so many dB (live)."""
    augment_noise_snr_db: float | None = Field(None, ge=-10.0, le=100.0)
    """White noise on each reference clip, so many dB below it; none: no noise (live)."""
    augment_time_mask: int = Field(0, ge=0, le=256)
    """At most so many neighbouring frames of each reference are hidden (live)."""
    augment_frequency_mask: int = Field(0, ge=0, le=256)
    """At most so many neighbouring mel bins of each reference are hidden (live)."""
    cache_dataset: bool = False
    """Keep the whole feature store in memory."""
    max_text_length: int = Field(200, ge=8, le=4096)
    """Tokens of the largest shape."""
    max_mel_frames: int = Field(800, ge=64, le=16384)
    """Frames of the largest shape (256 samples each)."""
    long_clips: Literal["extend", "split", "refuse"] = "extend"
    """Clips beyond the largest shape: one larger bucket, cut at sure pauses, or an error."""
    pad_to_fixed_length: bool = True
    """Static shapes; false pads each batch to its own longest clip and compiles for each."""
    static_shapes: Literal["buckets", "single"] = "buckets"
    """buckets: a few shapes chosen from the corpus; single: one shape for everything."""
    max_buckets: int = Field(8, ge=1, le=32)
    """The most shapes that `static_shapes: buckets` may choose; each is compiled once."""
    prefetch_buffer_size: int | None = Field(None, ge=1, le=1024)
    """Host batches loaded ahead; none: max(2, min(8, 64 // batch_size))."""
    prefetch_to_gpu: bool = True
    """Copy batches to the data device when they are loaded, ahead of need."""
    pipeline_depth: int = Field(3, ge=1, le=64)
    """Prepared batches waiting between the data device and the model device."""
    adaptive_depth: bool = True
    """Change `pipeline_depth` while training, deeper after stalls, less deep without any."""
    pipeline_depth_max: int = Field(16, ge=1, le=1024)
    """The deepest that `adaptive_depth` may go (never less than `pipeline_depth`)."""
    pipeline_buffer_size: int = Field(50, ge=1, le=4096)
    """The most batches in flight anywhere in the pipeline (`--buffer-size`)."""
    pipeline_memory: int = Field(1024, ge=1, le=2**20)
    """The most MB of batches in flight; one batch is always allowed."""
    stage_timeout: float = Field(300.0, ge=0.0, le=86400.0)
    """Seconds at one batch after which a stage of the pipeline counts as hung; 0: never."""
    enhanced_gpu_prefetch: bool = False
    """A second ring: host to data device, with a thread of its own."""
    optimize_cpu_gpu_overlap: bool = True
    """A thread of its own for each device; false: everything one after the other."""
    enable_xla: Auto = "auto"
    """Compile the step with XLA; auto: measure both at the start and keep the faster."""
    mixed_precision: Precision = "auto"
    """bfloat16 or float16 arithmetic; true: what the GPU has; auto: bfloat16 on GPUs, else none."""
    data_gpu: int | None = Field(None, ge=0)
    """Physical index of the GPU that prepares data; set both GPUs or neither."""
    model_gpu: int | None = Field(None, ge=0)
    """Physical index of the GPU that trains."""
    device_plan: Literal["default", "auto", "one", "dual", "replicas"] = "default"
    """default: dual when both GPUs are named, else one; auto: a trial of each decides."""
    virtual_gpus: int = Field(0, ge=0, le=8)
    """Rehearse on this many logical CPU devices instead of GPUs (0: the real ones)."""
    enable_memory_isolation: bool = False
    """Give each of the two GPUs a memory limit of its own."""
    data_gpu_memory: int | None = Field(None, ge=256)
    """Memory limit of the data GPU in MB (with memory isolation)."""
    model_gpu_memory: int | None = Field(None, ge=256)
    """Memory limit of the model GPU in MB (with memory isolation)."""
    model_start_delay: float = Field(2.0, ge=0.0, le=3600.0)
    """Seconds that training waits for the pipeline to be full before its first step."""

    @property
    def host_batches_ahead(self) -> int:
        """`prefetch_buffer_size`, or its default for this batch size."""
        return self.prefetch_buffer_size or max(2, min(8, 64 // self.batch_size))


class ModelConfig(_Section):
    """The network."""

    size: ModelSizeName = "tiny"
    """tiny, small, normal or big."""
    width: int | None = Field(None, ge=16, le=4096)
    """Channels of the blocks; none: what the size says (attention needs an even number)."""
    encoder_blocks: int | None = Field(None, ge=1, le=64)
    """Blocks of the text encoder; none: what the size says."""
    decoder_blocks: int | None = Field(None, ge=1, le=64)
    """Blocks of the decoder; none: what the size says."""
    refiner_blocks: int | None = Field(None, ge=0, le=64)
    """Blocks of the refiner; 0: no refiner, the coarse mel is spoken; none: what the size says."""
    refiner_steps: int = Field(6, ge=4, le=10)
    """Steps that the refiner takes to the mel when it speaks; more are slower."""
    voice_conditioning: bool = True
    """Take the voice from a reference clip; false: one average voice."""
    language_conditioning: bool = True
    """Tell the model the language of each sentence."""


class TrainingConfig(_Section):
    """Optimiser, schedule, checkpoints, validation."""

    optimizer: Literal["adamw"] = "adamw"
    """The optimiser."""
    learning_rate: float = Field(2e-3, gt=0, le=1.0)
    """Peak learning rate."""
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    """How the learning rate falls after the warm-up, down to 5 % at the last step."""
    warmup_steps: int = Field(100, ge=0)
    """Updates in which the learning rate rises from 0; an update is a step, unless accumulated."""
    weight_decay: float = Field(0.004, ge=0.0)
    """AdamW's weight decay."""
    epochs: int = Field(100, ge=1)
    """Passes over the corpus."""
    max_steps: int | None = Field(None, ge=1)
    """Stop after this many steps (batches), however many epochs that is."""
    gradient_clip: float = Field(1.0, gt=0)
    """Largest norm of a gradient."""
    gradient_accumulation: int = Field(1, ge=1, le=4096)
    """Batches whose gradients make one update: a batch so many times larger, in the same memory."""
    ema_decay: float = Field(0.0, ge=0.0, lt=1.0)
    """Decay of averaged weights, used to validate and speak (0.999 is usual); 0: no averaging."""
    seed: int = Field(0, ge=0, lt=2**31)
    """Seed of the weights and of the sample order."""
    from_checkpoint: str | None = None
    """Fine-tune: begin with the weights of this run or checkpoint; none: begin from nothing."""
    output_dir: str = "runs/latest"
    """Folder of the run: run.jsonl, config.yaml and, unless told otherwise, the checkpoints."""
    checkpoint_dir: str | None = None
    """Folder of the checkpoints; none: `checkpoints` in the run's folder."""
    checkpoint_interval: int = Field(1000, ge=1)
    """Steps between checkpoints; there is always one at the end."""
    keep_checkpoints: int = Field(3, ge=1)
    """How many checkpoints are kept, the oldest go first; the best one stays in any case."""
    validation_share: float = Field(0.0, ge=0.0, le=0.5)
    """Share of the clips held out to validate on when there is no `val_data`; 0: none."""
    validation_interval: int = Field(500, ge=1)
    """Steps between validations, when there is validation data."""
    sample_interval: int = Field(0, ge=0)
    """Steps between spoken samples, with pictures in TensorBoard; 0: none."""
    early_stop_patience: int = Field(0, ge=0)
    """Validations without improvement before training stops; 0: never."""
    report_interval: int = Field(50, ge=1)
    """Steps between the lines that say mean, spread and rate."""
    max_bad_steps: int = Field(5, ge=1)
    """So many steps in a row without a number as loss are too many: back to a checkpoint, once."""
    trace: bool = False
    """Write the run's last steps to trace.json.gz, to be looked at in ui.perfetto.dev."""


class Config(_Section):
    """Everything a run is told."""

    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()

    @model_validator(mode="after")
    def _combinations(self) -> Config:
        _check_devices(self.data)
        _check_languages(self.data)
        _check_augmentation(self.data)
        _check_validation(self)
        _check_width(self.model)
        return self

    def replaced(self, overrides: Mapping[str, Any]) -> Config:
        """A copy with dotted keys replaced: `{"data.batch_size": 8}`; None leaves a key alone."""
        tree = self.model_dump()
        for key, value in overrides.items():
            if value is not None:
                section, field = key.split(".")
                tree[section][field] = value
        return parse(tree, "the command line")


def _check_devices(data: DataConfig) -> None:
    one_gpu_named = (data.data_gpu is None) != (data.model_gpu is None)
    if one_gpu_named:
        named = "data_gpu" if data.model_gpu is None else "model_gpu"
        other = "--model-gpu" if named == "data_gpu" else "--data-gpu"
        raise UsageError(
            "Dual-device mode needs both GPUs: one that prepares data and one that trains",
            received=f"only {named}: {getattr(data, named)}",
            follows="nothing says what the other GPU is for, and it is not guessed",
            remedy=f"add {other} N, or leave both out to train on one device",
        )
    if data.data_gpu is not None and data.data_gpu == data.model_gpu:
        raise UsageError(
            "The data GPU and the model GPU must be two different GPUs",
            received=f"data_gpu: {data.data_gpu}, model_gpu: {data.model_gpu}",
            follows="preparing and training would wait for each other",
            remedy="--data-gpu 0 --model-gpu 1, or leave both out to train on one device",
        )
    _check_plan(data)
    if data.enable_memory_isolation and data.data_gpu is None:
        raise UsageError(
            "Memory isolation divides two GPUs, so both must be named",
            received="enable_memory_isolation without data_gpu and model_gpu",
            follows="there is nothing to isolate from anything",
            remedy="--data-gpu 0 --model-gpu 1 --enable-memory-isolation",
        )
    limits = (data.data_gpu_memory, data.model_gpu_memory)
    if any(limits) and not data.enable_memory_isolation:
        raise UsageError(
            "A memory limit takes effect only with memory isolation",
            received=f"data_gpu_memory: {limits[0]}, model_gpu_memory: {limits[1]}",
            follows="the limit would be ignored without a word",
            remedy="add --enable-memory-isolation, or drop the limits",
        )


def _check_plan(data: DataConfig) -> None:
    named = data.data_gpu is not None
    if data.device_plan == "one" and named:
        raise UsageError(
            "The plan one trains on one device, so no GPU has a role of its own",
            received=f"device_plan: one, data_gpu: {data.data_gpu}, model_gpu: {data.model_gpu}",
            follows="one of the two cannot be meant",
            remedy="leave out --data-gpu and --model-gpu, or --plan dual",
        )
    if data.device_plan == "dual" and not named:
        raise UsageError(
            "The plan dual needs both GPUs: one that prepares data and one that trains",
            received="device_plan: dual without data_gpu and model_gpu",
            follows="nothing says which GPU does what",
            remedy="--plan dual --data-gpu 0 --model-gpu 1",
        )
    if data.device_plan == "replicas" and data.enable_memory_isolation:
        raise UsageError(
            "Memory isolation divides a data GPU from a model GPU, and replicas are neither",
            received="enable_memory_isolation with device_plan: replicas",
            follows="the limits would be those of roles that no GPU has",
            remedy="leave out --enable-memory-isolation, or --plan dual",
        )


def _check_languages(data: DataConfig) -> None:
    if data.language != "auto" and data.language not in data.languages:
        raise UsageError(
            "data.language must be one of data.languages, or auto",
            received=f"language: {data.language}, languages: {data.languages}",
            remedy=f"add {data.language} to data.languages",
        )


def _check_augmentation(data: DataConfig) -> None:
    keys = [key for key in DataConfig.model_fields if key.startswith("augment_")]
    asked = [key for key in keys if getattr(data, key) != DataConfig.model_fields[key].default]
    if asked and data.features != "live":
        raise UsageError(
            "Augmentation changes the sound behind the mels, so it needs live features",
            received=f"{asked[0]}: {getattr(data, asked[0])} with features: {data.features}",
            remedy=f"data.features: live, or leave {', '.join(asked)} out",
        )
    if data.augment_frequency_mask >= data.n_mels:
        raise UsageError(
            "A frequency mask must leave some bins to hear",
            received=f"augment_frequency_mask: {data.augment_frequency_mask}, "
            f"n_mels: {data.n_mels}",
            remedy=f"data.augment_frequency_mask: {data.n_mels // 4}",
        )


def _check_validation(config: Config) -> None:
    validated = config.data.val_data is not None
    share, patience = config.training.validation_share, config.training.early_stop_patience
    if validated and share:
        raise UsageError(
            "Validation clips come from a second corpus or from a share of the first, not both",
            received=f"val_data: {config.data.val_data}, validation_share: {share}",
            remedy="training.validation_share: 0, or leave --val-data out",
        )
    if patience and not validated and not share:
        raise UsageError(
            "Stopping early is decided by validation, and there is nothing to validate on",
            received=f"early_stop_patience: {patience} without val_data and validation_share",
            remedy="training.validation_share: 0.05, or --val-data FOLDER",
        )


def _check_width(model: ModelConfig) -> None:
    attention = model.size != "tiny" or model.refiner_blocks
    if attention and model.width is not None and model.width % 2:
        raise UsageError(
            "Attention turns channels in pairs, so the width must be even",
            received=f"width: {model.width} with size: {model.size}",
            remedy=f"model.width: {model.width + 1}",
        )


def parse(tree: Mapping[str, Any], source: str, lines: Mapping[str, int] | None = None) -> Config:
    """Check a plain tree and make the configuration of it.

    `source` (a file's name, "the command line") and `lines` (dotted key -> line) say where a
    mistake stands.
    """
    try:
        return Config.model_validate(dict(tree))
    except ValidationError as invalid:
        error = invalid.errors()[0]
    key = ".".join(str(part) for part in error["loc"] if not _is_internal(part))
    line = (lines or {}).get(key)
    place = f"{source}, line {line}" if line else source
    if error["type"] == "extra_forbidden":
        names = known_keys() if "." in key else [name for name, _ in sections()]
        nearest = difflib.get_close_matches(key, names, n=1, cutoff=0.0)
        raise UsageError(
            f"Unknown key {key} in {place}",
            received=f"{key}: {error['input']}",
            remedy=f"did you mean {nearest[0]}? (myxtts config show lists all keys)",
        )
    raise UsageError(
        f"{key} in {place}: {_expectation(key, error)}",
        received=f"{key}: {error['input']!r} ({type(error['input']).__name__})",
        remedy=f"myxtts config show {key}",
    )


def _is_internal(part: int | str) -> bool:
    """Pydantic names list positions and the branch of a union it tried; a user knows only keys."""
    return isinstance(part, int) or part in ("bool", "int", "str") or part.startswith("literal")


def _expectation(key: str, error: Mapping[str, Any]) -> str:
    section, _, field = key.partition(".")
    if field:
        annotation = dict(sections())[section].model_fields[field].annotation
        values = _literals(annotation)
        if values and bool in get_args(annotation):
            values += ["true", "false"]
        if values:
            return "must be " + ", ".join(values[:-1]) + f" or {values[-1]}"
    return str(error["msg"])[0].lower() + str(error["msg"])[1:]


def _literals(annotation: object) -> list[str]:
    """The strings a key may hold, for `Literal`s, unions of them and lists of them."""
    values: list[str] = []
    for part in get_args(annotation):
        values += [part] if isinstance(part, str) else _literals(part)
    return values


def sections() -> Iterator[tuple[str, type[_Section]]]:
    """The sections of the tree in order: ("data", DataConfig), …"""
    yield "data", DataConfig
    yield "model", ModelConfig
    yield "training", TrainingConfig


def known_keys() -> list[str]:
    """All dotted keys, in order."""
    return [f"{name}.{field}" for name, section in sections() for field in section.model_fields]


def documentation(key: str) -> str:
    """The sentence that explains a dotted key."""
    section, _, field = key.partition(".")
    found = dict(sections()).get(section)
    if found is None or field not in found.model_fields:
        nearest = difflib.get_close_matches(key, known_keys(), n=1, cutoff=0.0)[0]
        raise UsageError(f"Unknown key {key}", remedy=f"did you mean {nearest}?")
    return found.model_fields[field].description or ""
