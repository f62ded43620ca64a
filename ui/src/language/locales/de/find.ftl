### Made by a machine; no native speaker has read it yet.

find-matches = Treffer in diesem Chat
find-field = In diesem Chat suchen
find-words = <query></query> in diesem Chat
    .query = „{ $query }“
find-count = <unseen>Treffer </unseen>{ $place ->
    [none] { "" }
    [lost] – von { $all }
   *[match] { $at } von { $all }
}
find-previous = Vorheriger Treffer
find-next = Nächster Treffer
find-close = Schließen
