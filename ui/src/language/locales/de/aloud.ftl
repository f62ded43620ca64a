### Made by a machine; no native speaker has read it yet.

aloud-reading = Vorlesen
aloud-place = { $at } von { $all }
aloud-pause = Pausieren
aloud-go-on = Fortsetzen
aloud-stop = Stoppen
aloud-nothing = Außer Code gibt es hier nichts vorzulesen.
aloud-no-voice = Auf { -here(case: "dative") } gibt es keine Stimme für diese Sprache: { $language }.
    .hint = Füge eine in den Systemeinstellungen hinzu, bei den Stimmen für gesprochene Inhalte.
