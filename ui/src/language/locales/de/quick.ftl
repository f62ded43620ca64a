### Made by a machine; no native speaker has read it yet.

quick-ask = Frag, was du willst
    .further = Weiterfragen
    .label = Frage
quick-no-model = Kein Modell
quick-reply = Antwort
    .thinking = Denkt nach

## What the keys do, after their names

quick-stop = Stoppen
quick-close = Schließen
quick-go-on = Im Fenster fortfahren
quick-copy = Antwort kopieren
quick-anew = Neu fragen
quick-choose-keys = Tasten wählen, die dieses Fenster überall zeigen
quick-shown-by = <key>{ $keys }</key> zeigt dieses Fenster überall

## The keys that show the panel

quick-keys-off = Keine
quick-keys-alt-space = { PLATFORM() ->
    [mac] ⌥Leertaste
   *[other] Alt+Leertaste
}
quick-keys-control-alt-space = { PLATFORM() ->
    [mac] ⌃⌥Leertaste
   *[other] Strg+Alt+Leertaste
}
quick-keys-shift-command-space = { PLATFORM() ->
    [mac] ⇧⌘Leertaste
   *[other] Strg+Umschalt+Leertaste
}
