"""Limits and rates of the playground, each with its unit and its reason."""

SCENE_NAMES = ("character", "creature", "planar", "arm", "crowd", "lab")
"""The scenes of `registry.SCENES`, which takes most of a second to import."""

TICK = 1 / 60
"""Seconds between two frames: 60 per second, as most screens show."""

SWITCH_INTERVAL = TICK / 30
"""Seconds after which a thread that computes lets another one run. Python's own 5 ms would delay each drag twice."""

LONGEST_STEP = 3 * TICK
"""Most seconds in one step. A scene that falls further behind runs slower, instead of falling behind ever more."""

SLOW_PICTURE = 1.5 * TICK
"""Seconds for a picture above which a page counts as slow. Where the processor draws, steps compete with pictures."""

STEP_SHARE = 0.1
"""Share of the time for steps while a page draws slowly, as long as `LONGEST_STEP` allows. A crowd at 60 steps a second
would use up a processor that shows 5 of them."""

SHORTEST_STEP = TICK / 4
"""Fewest seconds between two steps: inputs are answered between ticks, but not more often than any screen shows."""

SETTLE_TIME = 0.75
"""Seconds for which a paused scene solves after an input. In that time, eased hands and feet reach their handles."""

FIRST_PICTURE_WAIT = 20.0
"""Seconds for which compiling the other scenes waits for a page's first picture. A page may never be opened."""

LOADING_PAUSE = 0.1
"""Seconds between two jobs that load compiled kernels for later: scenes that run answer meanwhile."""

MOST_SESSIONS = 24
"""Most pages open at once. Each has a thread that solves 60 times a second; more would slow down all of them."""

MOST_CONNECTIONS = 800
"""Open connections of any kind: below the 1024 files that a process may usually have open."""

LONGEST_IDLE = 5.0
"""Seconds after which a connection without a request is closed."""

LARGEST_MESSAGE = 512 * 1024
"""Most bytes of a message from a page. A drag has about a hundred; a saved session with its poses up to this many."""

LARGEST_FILE = 64 * 1024 * 1024
"""Most bytes of a dropped file: characters with textures have tens of megabytes."""

LONGEST_FILE_WAIT = 180.0
"""Seconds in which a scene has to read or produce a file; the first may have to wait for the compiler."""

LARGEST_INPUT_NUMBER = 2**32 - 1
"""Input numbers are sent as 32 bits."""

MESSAGES_A_SECOND = 400.0
"""Rate limit of one page. It sends at most an input and a confirmation per frame: 120, or 240 on a fast screen."""

MESSAGES_IN_A_BURST = 800.0
"""Messages that may arrive at once, after a stall of the network."""

FRAMES_ON_THE_WAY = 12
"""Most frames sent and not yet confirmed: 0.2 s. A slower page gets the newest one once it has caught up."""

BYTES_ON_THE_WAY = 512 * 1024
"""Most bytes of frames sent and not yet confirmed, but for one frame. An answer waits behind what is on the way, and a
busy browser takes milliseconds for the half megabyte of a crowd."""

LONGEST_SILENCE = 30.0
"""Seconds without confirmation of a frame or of a ping after which a page counts as gone. A busy machine is slow."""

PING_INTERVAL = 10.0
"""Seconds between two pings, which detect clients that vanished without closing the connection."""

PORT = 8137
"""Default port: free on most machines."""

PORTS_TRIED = 50
"""Number of ports to try, starting with the wanted one."""

TIME_TO_CLOSE = 1
"""Whole seconds after Ctrl-C in which connections may close by themselves."""
