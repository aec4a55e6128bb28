"""The motion quality suite: bakes every take and rig of the assets onto six grounds and judges what plays back."""
