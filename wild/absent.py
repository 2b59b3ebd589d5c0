"""Packages that were looked at and are not audited, each with the reason; shown on the index of the register."""

_TORCH = "needs PyTorch, which is too large for the environments here"
_LATER = "installs; not audited yet"

ABSENT = {
    "autodp": "an accountant: it draws no noise",
    "binomialdpy": _LATER,
    "DiffPriv": "flips answers at fixed rates, and claims no epsilon",
    "differential-privacy": "holds no mechanism",
    "diffprivlib 0.5.2": "its dependency crlibm does not build",
    "diffprivlib 0.4.1": f"{_LATER}: its models need releases of numpy and scikit-learn from before 2023",
    "dp-wizard-templates": "templates of notebooks; the mechanisms in them are those of OpenDP",
    "dpart": "its pin of pandas does not build on this Python",
    "dpate": "the registry has no distribution for this Python",
    "dpsprt": _LATER,
    "hll-py": f"{_LATER}: its local randomizer is a private method, and the sketch is keyed by the words themselves",
    "inf-tda": f"{_LATER}: its noise is that of OpenDP",
    "jax-privacy": "audited by the training checks of this project (docs/training.md), and a peer in docs/peers.md",
    "ldp-hierarchical-mechanism": f"{_LATER}: its protocols are those of pure-ldp",
    "localPrivacy-martaajonees, privadjust": _LATER,
    "mbi": "estimates from noisy marginals; the mechanisms MST and AIM are not in the distribution",
    "mic-dp": f"{_LATER}: its noise is that of diffprivlib",
    "opacus": _TORCH,
    "ornl-presto": _TORCH,
    "privateAB": _TORCH,
    "smartnoise-synth": _TORCH,
    "syndp": "its dependency sklearn does not build",
    "synthcity": _TORCH,
}
