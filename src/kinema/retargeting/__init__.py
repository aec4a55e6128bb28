"""Move any motion onto any body: `retarget`."""

from kinema.retargeting.report import RetargetReport
from kinema.retargeting.retarget import retarget

__all__ = ["RetargetReport", "retarget"]
