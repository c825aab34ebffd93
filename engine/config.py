"""ModelConfig: everything that shapes the model, read from a checkpoint's config.json or from a preset."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.errors import ConfigError
from kernels.layout import Activation


@dataclass(frozen=True, slots=True)
class Indexer:
    """Dynamic sparse attention: which `top_k` earlier tokens a full-attention layer looks at."""

    heads: int
    dim: int
    top_k: int


@dataclass(frozen=True, slots=True)
class Backdrop:
    """What shows behind transparent parts of a picture. pattern: `white`, `black`, `gray` or `chessboard`, whose
    squares have `square` pixels a side and two levels, 0 to 255. white_first: the one at the top left is white.
    resized: it is painted after the picture is brought to the model's size, else before."""

    pattern: str
    square: int = 16
    white_first: bool = True
    white: int = 255
    gray: int = 200
    resized: bool = False

    def __post_init__(self) -> None:
        """Raises ConfigError for what can't be painted."""
        if self.pattern not in _PATTERNS:
            raise ConfigError(
                f"config: unknown pattern {self.pattern[:40]!r} behind pictures; known are {', '.join(_PATTERNS)}"
            )
        if self.square < 1 or max(self.white, self.gray) > 255 or min(self.white, self.gray) < 0:
            raise ConfigError(
                f"config: a chessboard of {self.square} pixels a square, {self.white} and {self.gray}: squares need a"
                " pixel, levels are 0 to 255"
            )


_PATTERNS = ("white", "black", "gray", "chessboard")


@dataclass(frozen=True, slots=True)
class Vision:
    """The patch encoder and its projector: MoonViT's shape in Kimi K2.5 (the defaults) and in Kimi K3.

    width: of all heads' queries together. norm: `layer` or `rms`. bias: whether products have one. positions:
    how the learned grid of `grid`² positions becomes a picture's own, `bicubic` or `bilinear`. projector: whether its
    norm stands `before`, on each patch, or `after`, on each token. patches, side: the most that a picture is cut into,
    and along a side; larger pictures are made smaller. backdrop: None where transparency is left out of account.
    """

    hidden: int
    layers: int
    heads: int
    inter: int
    width: int
    patch: int = 14
    merge: int = 2
    grid: int = 64
    frames: int = 4
    norm: str = "layer"
    bias: bool = True
    positions: str = "bicubic"
    projector: str = "before"
    projector_eps: float = 1e-5
    patches: int = 16_384
    side: int = 512
    backdrop: Backdrop | None = None

    def __post_init__(self) -> None:
        """Raises ConfigError for what makes no encoder."""
        for key in (
            "hidden",
            "layers",
            "heads",
            "inter",
            "width",
            "patch",
            "merge",
            "grid",
            "patches",
            "side",
        ):
            if getattr(self, key) < 1:
                raise ConfigError(f"config: vision {key} is {getattr(self, key)}, it has to be at least 1")
        if self.width % self.heads or self.width // self.heads % 4:
            raise ConfigError(
                f"config: vision width {self.width} of {self.heads} heads: each needs a multiple of 4, so that half of"
                " its pairs are turned by the row and half by the column"
            )
        for key, known in _VISION_CHOICES.items():
            if getattr(self, key) not in known:
                raise ConfigError(
                    f"config: vision {key} is {getattr(self, key)!r}; known are {', '.join(known)}"
                )

    @property
    def norm_eps(self) -> float:
        """Of the encoder's norms: K2.5's says 1e-5, K3's is PyTorch's own of fp32."""
        return 1e-5 if self.norm == "layer" else 2.0**-23


_VISION_CHOICES = {
    "norm": ("layer", "rms"), "positions": ("bicubic", "bilinear"), "projector": ("before", "after"),
}  # fmt: skip
K25_VISION = Vision(hidden=1152, layers=27, heads=16, inter=4304, width=1152)
K3_VISION = Vision(
    hidden=1024, layers=27, heads=12, inter=4096, width=1536, norm="rms", bias=False, positions="bilinear",
    projector="after", patches=65_536,
    backdrop=Backdrop("chessboard", square=8, gray=180, resized=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Widths are numbers of values; layers are counted from 0.

    `full` are the layers with full (MLA) attention, the others are KDA. `gate_bound` None means Kimi-Linear's
    decay, a number K3's. `gate_rank` None means a full-rank KDA output gate. `latent` None means experts on
    the full width. `attn_res_block` 0 means plain residuals. `indexer` None means dense full attention. `placeholder`
    is the token id that stands in a prompt where a picture's tokens go.
    """

    hidden: int
    layers: int
    vocab: int
    full: tuple[int, ...]
    kda_heads: int
    kda_dim: int
    conv: int
    gate_bound: float | None
    gate_rank: int | None
    heads: int
    q_lora: int | None
    kv_lora: int
    nope: int
    shared_key: int
    v_dim: int
    output_gate: bool
    indexer: Indexer | None
    dense_layers: int
    dense_inter: int
    experts: int
    top_k: int
    shared_experts: int
    expert_inter: int
    latent: int | None
    router_scale: float
    renormalise: bool
    activation: str
    situ_beta: float = 4.0
    situ_linear_beta: float = 25.0
    attn_res_block: int = 0
    eps: float = 1e-5
    context: int = 1_048_576
    bos: int | None = None
    eos: tuple[int, ...] = ()
    vision: Vision | None = None
    placeholder: int | None = None
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Raises ConfigError for what makes no model."""
        for key in _POSITIVE:
            if getattr(self, key) < 1:
                raise ConfigError(f"config: {key} is {getattr(self, key)}, it has to be at least 1")
        for index in self.full:
            if not 0 <= index < self.layers:
                raise ConfigError(f"config: full-attention layer {index} of {self.layers} layers")
        if self.dense_layers > self.layers or self.dense_layers < 0:
            raise ConfigError(f"config: {self.dense_layers} dense layers of {self.layers}")
        if self.top_k > self.experts:
            raise ConfigError(f"config: {self.top_k} experts a token of {self.experts}")
        if self.activation not in ("situ", "silu"):
            raise ConfigError(f"config: unknown activation {self.activation!r}; known are situ and silu")
        if self.indexer is not None and self.q_lora is None:
            raise ConfigError("config: an indexer reads the compressed query, so q_lora_rank can't be null")
        if self.expert_width % 32 or self.expert_inter % 32:
            raise ConfigError(
                f"config: experts of {self.expert_width} × {self.expert_inter}: both have to be multiples of 32"
            )

    @property
    def latent_width(self) -> int:
        """Values of the latent KV cache a token and layer."""
        return self.kv_lora + self.shared_key

    @property
    def expert_width(self) -> int:
        """Width that the routed experts read and write."""
        return self.latent if self.latent is not None else self.hidden

    @property
    def kda_width(self) -> int:
        return self.kda_heads * self.kda_dim

    @property
    def glu(self) -> Activation:
        return Activation(self.activation, self.situ_beta, self.situ_linear_beta)

    def is_full(self, layer: int) -> bool:
        return layer in self.full


_POSITIVE = (
    "hidden", "layers", "vocab", "kda_heads", "kda_dim", "conv", "heads", "kv_lora", "nope", "v_dim", "dense_inter",
    "experts", "top_k", "expert_inter", "context",
)  # fmt: skip


def _every_fourth(layers: int) -> tuple[int, ...]:
    """Layers 4, 8, … (counted from 1) and the last one."""
    return tuple(sorted({*range(3, layers, 4), layers - 1}))


KIMI_LINEAR_48B = ModelConfig(
    name="kimi-linear-48b", hidden=2304, layers=27, vocab=163_840, full=_every_fourth(27), kda_heads=32, kda_dim=128,
    conv=4, gate_bound=None, gate_rank=128, heads=32, q_lora=None, kv_lora=512, nope=128, shared_key=64, v_dim=128,
    output_gate=False, indexer=None, dense_layers=1, dense_inter=9216, experts=256, top_k=8, shared_experts=1,
    expert_inter=1024, latent=None, router_scale=2.446, renormalise=True, activation="silu", bos=163_584,
    eos=(163_586,),
)  # fmt: skip
"""Kimi-Linear-48B-A3B-Instruct (MIT), as its public config.json says."""

K3 = ModelConfig(
    name="k3", hidden=7168, layers=93, vocab=163_840, full=_every_fourth(93), kda_heads=96, kda_dim=128, conv=4,
    gate_bound=-5.0, gate_rank=None, heads=96, q_lora=1536, kv_lora=512, nope=128, shared_key=64, v_dim=128,
    output_gate=True, indexer=None, dense_layers=1, dense_inter=33_792, experts=896, top_k=16, shared_experts=2,
    expert_inter=3072, latent=3584, router_scale=1.0, renormalise=True, activation="situ", attn_res_block=12,
    bos=163_584, eos=(163_586,),
    vision=K3_VISION, placeholder=163_605,
)  # fmt: skip

K3_1_PRO = replace(K3, name="k3.1-pro", indexer=Indexer(heads=32, dim=128, top_k=2048))

MINI = ModelConfig(
    name="mini", hidden=192, layers=8, vocab=8192, full=(3, 7), kda_heads=3, kda_dim=64, conv=4, gate_bound=-5.0,
    gate_rank=None, heads=3, q_lora=96, kv_lora=64, nope=32, shared_key=16, v_dim=32, output_gate=True,
    indexer=Indexer(heads=4, dim=32, top_k=256), dense_layers=1, dense_inter=512, experts=16, top_k=2,
    shared_experts=1, expert_inter=128, latent=96, router_scale=1.0, renormalise=True, activation="situ",
    attn_res_block=4, context=1_048_576, bos=0, eos=(1,),
)  # fmt: skip

PRESETS = {config.name: config for config in (K3_1_PRO, K3, KIMI_LINEAR_48B, MINI)}
