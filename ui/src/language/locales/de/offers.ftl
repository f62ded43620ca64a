### Made by a machine; no native speaker has read it yet.

offers-prompt =
    .insert = Einfügen
    .filling = Wird ausgefüllt …
    .sent = Der Server füllt ihn gerade aus.
    .cancel = Abbrechen
    .note = Was du hier schreibst, geht an { $server }.

## What servers have to read

offers-attach = Von einem Server …
offers-resources = Von einem Server
    .search = Suchen
    .list = Was deine Server haben
    .asking = Deine Server werden gefragt …
    .none = Deine Server haben nichts zum Anhängen.
    .no-match = Nichts passt.
