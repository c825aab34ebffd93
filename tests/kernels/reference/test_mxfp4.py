"""Packing gives the nearest number that MXFP4 has, and unpacking what it says."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from kernels.reference.mxfp4 import VALUES, pack, unpack  # noqa: E402


def test_every_code_and_its_place() -> None:
    packed = torch.tensor(
        [[low | high << 4 for low, high in zip(range(0, 16, 2), range(1, 16, 2), strict=True)] * 2]
    )
    scales = torch.tensor([[128]], dtype=torch.uint8)
    expected = [2 * value for value in (*VALUES, *(-value for value in VALUES))] * 2
    assert unpack(packed.to(torch.uint8), scales)[0].tolist() == expected


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 15), min_size=32, max_size=32).filter(
        lambda codes: any(c % 8 in (6, 7) for c in codes)
    ),
    st.integers(1, 252),  # above, a code of 4 or 6 is past what fp32 holds
)
def test_what_was_packed_is_packed_again_the_same(codes, scale) -> None:
    """Where a block uses its range (a code of 4 or 6), the exponent is found again."""
    codes = [0 if code == 8 else code for code in codes]  # −0 comes back as −0 only by its sign bit
    packed = torch.tensor(
        [[a | b << 4 for a, b in zip(codes[::2], codes[1::2], strict=True)]], dtype=torch.uint8
    )
    scales = torch.tensor([[scale]], dtype=torch.uint8)
    again = pack(unpack(packed, scales))
    assert torch.equal(again[0], packed)
    assert torch.equal(again[1], scales)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=32, max_size=32))
def test_no_number_of_the_format_is_nearer(values) -> None:
    tensor = torch.tensor([values])
    packed, scales = pack(tensor)
    back = unpack(packed, scales)
    grid = torch.tensor([*VALUES, *(-value for value in VALUES)]) * 2.0 ** (int(scales[0, 0]) - 127)
    nearest = (tensor[0][:, None] - grid).abs().min(1).values
    torch.testing.assert_close((tensor - back)[0].abs(), nearest, rtol=0, atol=0)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 32"):
        pack(torch.zeros(1, 33))
    with pytest.raises(ValueError, match="infinities"):
        pack(torch.full((1, 32), float("nan")))
