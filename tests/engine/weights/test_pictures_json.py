"""preprocessor_config.json: limits of pictures and what shows behind them, read, written back, refused by name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.config import K3_VISION, K25_VISION, Backdrop  # noqa: E402
from engine.errors import ConfigError  # noqa: E402
from engine.weights.pictures_json import pictures_from_json, pictures_to_json  # noqa: E402

PUBLIC_K3 = {
    "media_proc_cfg": {
        "in_patch_limit": 65536, "patch_size": 14, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
        "merge_kernel_size": 2, "fixed_output_tokens": None, "patch_limit_on_one_side": 512,
        "in_patch_limit_each_frame": 16384, "sample_fps": 8.0, "temporal_merge_kernel_size": 4,
        "transparent_bg_config": {
            "pattern": "chessboard", "chessboard_square_size": 8, "chessboard_square_on_top_left": True,
            "chessboard_white_value": 255, "chessboard_gray_value": 180,
        },
        "transparent_bg_fill_stage": "after_resize",
    }
}  # fmt: skip
"""What the public preprocessor_config.json of Kimi K3 says of pictures."""
PUBLIC_K25 = {
    "media_proc_cfg": {
        "in_patch_limit": 16384, "patch_size": 14, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
        "merge_kernel_size": 2, "fixed_output_tokens": None, "patch_limit_on_one_side": 512,
    }
}  # fmt: skip
"""That of Kimi K2.5."""


@pytest.mark.parametrize(("found", "vision"), [(PUBLIC_K3, K3_VISION), (PUBLIC_K25, K25_VISION)])
def test_the_public_files_are_the_presets(found: dict, vision) -> None:
    assert pictures_from_json(found, replace(vision, patches=1, side=1, backdrop=Backdrop("gray"))) == vision
    assert pictures_from_json(found["media_proc_cfg"], vision) == vision


def test_the_limit_of_patches_is_the_files_else_the_kinds() -> None:
    assert pictures_from_json({"in_patch_limit": 65536}, K25_VISION).patches == 65536
    assert pictures_from_json({}, K25_VISION).patches == 16384
    assert pictures_from_json({}, K3_VISION).patches == 65536


def test_a_file_without_a_backdrop_leaves_transparency_out() -> None:
    assert pictures_from_json({}, K3_VISION).backdrop is None
    assert pictures_from_json({"transparent_bg_config": None}, K3_VISION).backdrop is None


def test_a_backdrop_that_says_little_is_black_before_resizing() -> None:
    found = {"transparent_bg_config": {}}
    assert pictures_from_json(found, K25_VISION).backdrop == Backdrop("black", 16, True, 255, 200, False)


@given(
    backdrop=st.none()
    | st.builds(
        Backdrop,
        st.sampled_from(["white", "black", "gray", "chessboard"]),
        st.integers(1, 99),
        st.booleans(),
        st.integers(0, 255),
        st.integers(0, 255),
        st.booleans(),
    ),
    patches=st.integers(1, 99_999),
)
def test_what_is_written_is_read_back(backdrop, patches: int) -> None:
    vision = replace(K25_VISION, backdrop=backdrop, patches=patches)
    assert pictures_from_json(json.loads(json.dumps(pictures_to_json(vision))), K25_VISION) == vision


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"transparent_bg_config": {"pattern": "plaid"}}, "'plaid' behind pictures; known are white, black"),
        ({"transparent_bg_config": {"pattern": ["white"]}}, "pattern is"),
        ({"transparent_bg_config": {"pattern": "x" * 500}}, "unknown pattern"),
        ({"transparent_bg_config": "white"}, "no object"),
        ({"transparent_bg_config": {"chessboard_square_size": 0}}, "squares need a pixel"),
        ({"transparent_bg_config": {"chessboard_square_size": 1.5}}, "chessboard_square_size"),
        ({"transparent_bg_config": {"chessboard_white_value": 256}}, "levels are 0 to 255"),
        ({"transparent_bg_config": {"chessboard_square_on_top_left": 1}}, "no yes or no"),
        ({"transparent_bg_fill_stage": "sometime"}, "known are 'before_resize', 'after_resize'"),
        ({"transparent_bg_fill_stage": ["after_resize"]}, "transparent_bg_fill_stage"),
        ({"fixed_output_tokens": 64}, "fixed_output_tokens"),
        ({"in_patch_limit": -1}, "in_patch_limit"), ({"in_patch_limit": 0}, "patches is 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_by_name(wrong: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        pictures_from_json({"media_proc_cfg": wrong}, K3_VISION)
    assert len(str(caught.value)) < 400
