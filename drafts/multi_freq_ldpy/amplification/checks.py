"""multi_freq_ldpy, amplification over attributes."""

from __future__ import annotations

from wild.multi_freq_ldpy.audits import SEVERAL, one_check

CHECKS = [
    one_check("RS+FD GRR", "RSpFD_GRR_Client", SEVERAL),
    one_check("RS+FD OUE-z", "RSpFD_UE_zero_Client", SEVERAL),
    one_check("RS+FD OUE-r", "RSpFD_UE_rnd_Client", SEVERAL),
    one_check("RS+FD ADP", "RSpFD_ADP_Client", SEVERAL),
]
