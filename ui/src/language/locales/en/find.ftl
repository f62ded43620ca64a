### Finding words in the open chat.

find-matches = Matches in this chat
find-field = Find in this chat
find-words = <query></query> in this chat
    .query = “{ $query }”
find-count = <unseen>Match </unseen>{ $place ->
    [none] { "" }
    [lost] – of { $all }
   *[match] { $at } of { $all }
}
find-previous = Previous match
find-next = Next match
find-close = Close
