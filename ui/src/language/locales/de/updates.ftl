### Made by a machine; no native speaker has read it yet.

updates-title = Updates
updates-version = Neue Version
    .state = Neue Version: { $state }
updates-row-new = neu
updates-row-waits = wartet
updates-row-installing = wird installiert
updates-row-failed = fehlgeschlagen
updates-newest = Das ist die neueste Version.
updates-checking = Nach einer neueren Version wird gesucht …
updates-there = Eine neuere Version ist verfügbar.
updates-downloaded = { $share } von { $size } geladen
updates-waiting = Geladen. Wartet, bis Antworten und Downloads fertig sind
updates-installing = Foretoken startet gleich neu
updates-install = Installieren und neu starten
    .again = Erneut versuchen
updates-look-again = Erneut versuchen
updates-later = Später
updates-cancel = Abbrechen
updates-close = Schließen
