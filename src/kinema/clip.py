"""`Clip`: keys over time for some joints of a skeleton."""
