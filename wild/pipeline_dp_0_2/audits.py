"""PipelineDP 0.2.1: checks of PipelineDP 0.3.1 that are quick or refuted something."""

from __future__ import annotations

from wild.pipeline_dp import audits
from wild.recast import recast

CHECKS, NOTES, ABOUT = recast(
    audits,
    "pipeline_dp_0_2",
    "pipeline-dp 0.2",
    ("PipelineDP 0.3.1", "PipelineDP 0.2.1"),
    ["COUNT*", "SUM*", "VARIANCE in [[]-1*", "ExponentialMechanism*"],
)
