"""preprocessor_config.json: how large pictures may be, and what shows where they are transparent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.config import Backdrop, Vision
from engine.errors import ConfigError
from engine.weights.keys import Keys, short

_PIXELS = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
_STAGES = {"before_resize": False, "after_resize": True}
_STAGE, _BEHIND = "transparent_bg_fill_stage", "transparent_bg_config"


def pictures_from_json(found: Any, vision: Vision) -> Vision:
    """`vision` with what the file says of pictures. Errors: ConfigError."""
    whole = Keys(found, "preprocessor ")
    keys = Keys(whole.raw.get("media_proc_cfg") or found, "preprocessor ")
    has_to_be = {**_PIXELS, "patch_size": vision.patch, "merge_kernel_size": vision.merge}
    for key, value in has_to_be.items():
        if keys.raw.get(key) not in (None, value):
            raise ConfigError(f"config: preprocessor {key} is {short(keys.raw[key])}, it has to be {value}")
    if keys.raw.get("fixed_output_tokens") is not None:
        raise ConfigError("config: preprocessor fixed_output_tokens: pictures are computed in their own size")
    return replace(
        vision,
        patches=keys.whole("in_patch_limit", vision.patches),
        side=keys.whole("patch_limit_on_one_side", vision.side),
        backdrop=_backdrop(keys),
    )


def pictures_to_json(vision: Vision) -> dict[str, Any]:
    """What `pictures_from_json` reads back."""
    found: dict[str, Any] = {
        **_PIXELS, "patch_size": vision.patch, "merge_kernel_size": vision.merge,
        "in_patch_limit": vision.patches, "patch_limit_on_one_side": vision.side,
    }  # fmt: skip
    behind = vision.backdrop
    if behind is not None:
        found[_BEHIND] = {
            "pattern": behind.pattern, "chessboard_square_size": behind.square,
            "chessboard_square_on_top_left": behind.white_first, "chessboard_white_value": behind.white,
            "chessboard_gray_value": behind.gray,
        }  # fmt: skip
        found[_STAGE] = next(name for name, resized in _STAGES.items() if resized == behind.resized)
    return {"media_proc_cfg": found}


def _backdrop(keys: Keys) -> Backdrop | None:
    stage = keys.get(_STAGE, "before_resize")
    if not isinstance(stage, str) or stage not in _STAGES:
        raise ConfigError(
            f"config: {keys.where}{_STAGE} is {short(stage)}; known are {', '.join(map(repr, _STAGES))}"
        )
    if keys.raw.get(_BEHIND) is None:
        return None
    found = Keys(keys.raw[_BEHIND], f"{keys.where}{_BEHIND}.")
    pattern, usual = found.get("pattern", "black"), Backdrop("black")
    if not isinstance(pattern, str):
        raise ConfigError(f"config: {found.where}pattern is {short(pattern)}, it has to be a name")
    white_first = found.get("chessboard_square_on_top_left", usual.white_first)
    if not isinstance(white_first, bool):
        raise ConfigError(
            f"config: {found.where}chessboard_square_on_top_left is {short(white_first)}, no yes or no"
        )
    return Backdrop(
        pattern,
        found.whole("chessboard_square_size", usual.square),
        white_first,
        found.whole("chessboard_white_value", usual.white),
        found.whole("chessboard_gray_value", usual.gray),
        _STAGES[stage],
    )
