"""Packages that were looked at and are not audited, each with the reason; shown on the index of the register."""

_TORCH = "needs PyTorch, which is too large for the environments here"

ABSENT = {
    "autodp": "an accountant: it draws no noise",
    "binomialdpy": "hypothesis tests that state no interface for outputs; not looked at further",
    "diffprivlib 0.5.2": "its dependency crlibm does not build",
    "diffprivlib 0.4.1": "its mechanisms take no seed, so that what serves the later releases does not apply",
    "differential-privacy": "holds no mechanism",
    "dp-group-stats": "its one mechanism is a Laplace sample; the pipeline around it claims no epsilon of its own",
    "dp-wizard-templates": "templates of notebooks; the mechanisms in them are those of OpenDP",
    "dpart": "its pin of pandas does not build on this Python",
    "dpate": "the registry has no distribution for this Python",
    "dpmm": "installs; its generators take seconds for a table, so that no fair budget fits",
    "DiffPriv": "masks records, and claims no epsilon",
    "flwr": "installs; its mods need messages of a running federation",
    "hll-py": "its local randomizer is private, and the sketch holds the words in the clear",
    "inf-tda": "installs; the noise is that of OpenDP",
    "jax-privacy": "audited by the training checks of this project, not here",
    "ldp-hierarchical-mechanism": "installs; its protocols are those of pure-ldp",
    "mbi": "estimates from noisy marginals; the mechanisms (MST, AIM) are not in the distribution",
    "mic-dp": "the noise is that of diffprivlib",
    "opacus": _TORCH,
    "privateAB": _TORCH,
    "privsyn-core": "installs; a synthesizer that takes seconds for a table, so that no fair budget fits",
    "smartnoise-synth": _TORCH,
    "syndp": "its dependency sklearn does not build",
    "synthcity": _TORCH,
    "tmlt-core": "installs; needs a Spark session, which takes longer to answer than a fair budget allows",
}
