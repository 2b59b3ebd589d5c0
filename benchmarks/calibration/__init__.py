"""The calibration suite: false alarms at the edge of every kind of claim, and power beyond it, for every method."""
