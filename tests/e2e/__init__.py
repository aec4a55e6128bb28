"""The page in a real browser.

What it promises in numbers, and the test of each:

| number | test |
| --- | --- |
| every scene keeps its state over scenes, reload, back and forward, a new server; `Ctrl+Z` across | `test_kept` |
| hips dragged by 60 px after a hand was pulled move by 60 px | `test_hand`: hips follow |
| a moving hand is grabbed at 6 pictures a second | `test_hand`: a moving hand |
| two fingers drag two hands | `test_hand`: two fingers |
| five captures of five are in the picture, head included, and with `Home` | `test_character`: captures |
| ground under feet never fades | `test_steering`: the steps that feet are on |
| pictures and films of 3840 pixels, transparent, without handles | `test_takes` |
| films and GIFs of 3 s and of one loop; the whole walk | `test_takes` |
| FBX, VRM and GLB are opened from any scene; other files say how | `test_character` |
| points onto the character that is shown | `test_motions` |
| a finger by itself | `test_body` |
| the original of a motion stands on the ground | `tests/demo/scenes/test_borrowed_motion` |
| what lies on the picture covers nothing else there, texts of all solvers can be read | `test_phone` |
| 60% of a phone's screen is the picture, upright and sideways | `test_phone`: most of the screen |
| scripts within 1 mm of the copied pose | `test_character`: a copied script; `tests/demo/scenes` |
| scripts of at most 20 kB for a crowd, with the rope | `test_scenes`, `test_planar` |
| knees of captures bend forward | `tests/demo/scenes/test_limb_bends`; `test_two_minutes`: a wrong knee |
| Crowd left after 0.15 s says nothing | `test_endurance` |
| six files at once | `test_motions`: six files |
| ground from a file, ground that is drawn | `test_character`: a dropped mesh; `test_planar`: ground is drawn |
| 20 poses of the library | `test_timeline`: a pose of the library, `tests/demo/scenes/test_pose_library` |
| seven tasks of newcomers, 60 s each | `test_tasks` |
| 20 ms from the pointer to the answer, in every scene | `latency` (`make latency`) |
| 50 changes of scene, 10 minutes alone (`make idle`) | `test_endurance` |
| no word on the console | every test: `conftest.open_tab` |
"""
