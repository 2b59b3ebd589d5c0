"""PipelineDP 0.2.1: checks of PipelineDP 0.3.1 that are quick, or that findings are about."""

from __future__ import annotations

from wild.pipeline_dp import audits
from wild.recast import Sibling

SIBLING = Sibling("pipeline_dp_0_2", "pipeline-dp 0.2", ("PipelineDP 0.3.1", "PipelineDP 0.2.1"))
CHECKS, NOTES, ABOUT = SIBLING.recast(
    audits,
    ["COUNT*", "SUM*"],
)
