### Reading aloud.

aloud-reading = Reading aloud
aloud-place = { $at } of { $all }
aloud-pause = Pause
aloud-go-on = Go on
aloud-stop = Stop
aloud-nothing = There is nothing to read but code.
aloud-no-voice = No voice of this machine speaks { $language }.
    .hint = Add one in the system’s settings, where voices for spoken content are.
