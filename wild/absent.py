"""Packages that were looked at and are not audited, each with the reason; shown on the index of the register."""

ABSENT = {
    "opacus": "needs PyTorch, which is too large for the environments here",
}
