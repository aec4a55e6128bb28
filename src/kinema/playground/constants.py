"""The playground's numbers, each with its unit and its reason."""

TICK = 1 / 60
"""Seconds between two frames: what screens show."""

MOST_TICKS_AT_ONCE = 3
"""A scene that falls behind makes up for so many ticks in one step, then time itself goes slower: no spiral."""

SETTLE_TICKS = 45
"""Ticks for which a paused scene solves after an input: 0.75 s, in which eased hands and feet reach their handles."""

MOST_SESSIONS = 24
"""Pages open at once. Each has a thread that solves 60 times a second; more would slow down everybody's."""

MOST_CONNECTIONS = 800
"""Open connections of any kind: below the 1024 files that a process may usually have open."""

LONGEST_IDLE = 5.0
"""Seconds after which a connection without a request is closed."""

LARGEST_MESSAGE = 64 * 1024
"""Bytes of a message from a page. The largest real one, a dragged handle, has about a hundred."""

LARGEST_FILE = 64 * 1024 * 1024
"""Bytes of a file that is dropped on a page: characters with all their textures have tens of megabytes."""

LONGEST_FILE_WAIT = 180.0
"""Seconds in which a scene has to take or give a file: the first may have to wait for the compiler."""

LARGEST_INPUT_NUMBER = 2**32 - 1
"""The number of a page's last input travels as 32 bits."""

MESSAGES_A_SECOND = 400.0
"""From one page. A page sends at most an input and a receipt a frame: 120, or 240 on a fast screen."""

MESSAGES_IN_A_BURST = 800.0
"""So many may come at once after a pause: what a stalled network delivers late."""

FRAMES_ON_THE_WAY = 12
"""Frames sent and not yet confirmed: 0.2 s. A page that is slower gets the newest one when it has caught up."""

LONGEST_SILENCE = 30.0
"""Seconds a page may leave frames unconfirmed before it counts as gone."""

PING_INTERVAL = 10.0
"""Seconds between two pings, which find clients that vanished without a word."""

PORT = 8137
"""Where to listen unless told: free on most machines."""

PORTS_TRIED = 50
"""From the wanted one on, before giving up."""

TIME_TO_CLOSE = 1
"""Whole seconds that connections get to be closed in after Ctrl-C, where that does not happen at once."""

JUDGED_FPS, JUDGED_FRAMES = 30.0, 240
"""Frames of a clip that are looked at to see whether it walks in place: so many a second, so many at most."""

LONGEST_BAKED = 120.0
"""Seconds of a clip that a page bakes: its scene stands still meanwhile."""

WAY_POINTS_A_SECOND = 10.0
"""Of a held place that goes along over uneven ground."""
