### Made by a machine; no native speaker has read it yet.

## The list

chats-list = Chats
chats-unnamed = Ohne Namen
chats-heading-pinned = Angeheftet
chats-heading-projects = Projekte
chats-new-project = Neues Projekt
chats-drag-into = Nach „{ $name }“
chats-drag-out = Aus seinem Projekt heraus
chats-more = Mehr zu „{ $title }“
chats-writing = Eine Antwort wird geschrieben
chats-failed = Die letzte Antwort ist fehlgeschlagen
chats-unseen = Eine Antwort, die du noch nicht gesehen hast
chats-name-field = Name des Chats
    .placeholder = Benannt nach der ersten Nachricht

## What can be done with a chat

chats-export-markdown = Als Markdown exportieren …
chats-export-html = Als HTML exportieren …
chats-export-json = Als JSON exportieren …
chats-print = Drucken …
chats-keep-temporary = Diesen Chat behalten
chats-open-window = In neuem Fenster öffnen
chats-show-in-main = Im Hauptfenster zeigen
chats-rename = Umbenennen
chats-pin = Anheften
chats-unpin = Nicht mehr anheften
chats-tags = Schlagwörter …
chats-move = In ein Projekt bewegen …
chats-take-out = Aus dem Projekt entfernen
chats-delete = Löschen

## Tags

chats-tags-sheet = Schlagwörter von „{ $title }“
chats-tags-cancel = Abbrechen
chats-tags-keep = Übernehmen
chats-tags-field = Schlagwörter, durch Kommas getrennt
    .placeholder = Arbeit, Geschichten
chats-tags-known = Schlagwörter anderer Chats
chats-tag-filter = Gezeigte Chats
chats-tag-filter-all = Alle Chats

## Search

chats-search = Suchen
    .label = Alle Chats durchsuchen
chats-search-results = Gefunden
chats-search-filters = Gezeigte Treffer
chats-search-all = Alle
chats-search-week = Diese Woche
chats-search-pinned = Angeheftet
chats-search-tagged = Mit dem Schlagwort { $tag }
chats-search-places =
    <number>{ $shown }</number><unit>{ $places ->
       *[other] { " " }Treffer
    }</unit>
chats-search-in-chat = Treffer in „{ $title }“
chats-search-more-in-chat =
    { $places ->
        [one] { $places } weiterer Treffer
       *[other] { $places } weitere Treffer
    } in diesem Chat
chats-search-elsewhere =
    { $places ->
        [one] { $places } weiterer Treffer
       *[other] { $places } weitere Treffer
    } in anderen Chats. Ein Wort mehr grenzt die Suche ein.
chats-search-elsewhere-capped =
    { $places ->
        [one] { $places } weiterer Treffer
       *[other] { $places } weitere Treffer
    } in anderen Chats. Nur die neuesten 2.000 Treffer wurden angesehen. Ein Wort mehr grenzt die Suche ein.
chats-search-capped = Nur die neuesten 2.000 Treffer wurden angesehen. Ein Wort mehr grenzt die Suche ein.
chats-search-found =
    { $places } Treffer in { $chats ->
        [one] { $chats } Chat
       *[other] { $chats } Chats
    }
chats-search-found-capped =
    { $places } Treffer und mehr in { $chats ->
        [one] { $chats } Chat
       *[other] { $chats } Chats
    }
chats-search-nothing = Nichts gefunden
chats-search-none = „{ $query }“ kommt in keinem Chat vor
chats-search-none-pinned = „{ $query }“ kommt in keinem angehefteten Chat vor
chats-search-none-week = „{ $query }“ kommt in keinem Chat dieser Woche vor
chats-search-none-tagged = „{ $query }“ kommt in keinem Chat mit dem Schlagwort { $tag } vor
chats-search-searched =
    { $messages ->
        [one] { $messages } Nachricht wurde durchsucht.
       *[other] { $messages } Nachrichten wurden durchsucht.
    }
chats-search-searched-files =
    { $messages ->
        [one] { $messages } Nachricht
       *[other] { $messages } Nachrichten
    } und { $files ->
        [one] { $files } Datei
       *[other] { $files } Dateien
    } wurden durchsucht.
chats-search-keys-move = ↑ ↓ bewegen
chats-search-keys-open = ⏎ öffnen
chats-search-keys-leave = esc verlassen

## What was deleted

chats-message-deleted = Die Nachricht wurde gelöscht.
chats-chat-deleted = Der Chat wurde gelöscht.
chats-named-deleted = „{ $title }“ wurde gelöscht.
chats-deletions = Gelöscht
    .title = Gelöschte Chats, Nachrichten, Projekte und Voreinstellungen
    .note = Alles lässt sich zurückholen, bis du Foretoken beendest.
chats-deletions-preset = Voreinstellung
chats-deletions-project = Projekt
chats-deletions-project-chats =
    Projekt mit { $chats ->
        [one] { $chats } Chat
       *[other] { $chats } Chats
    }
chats-deletions-chat = Chat
chats-deletions-message = Nachricht in „{ $chat }“
chats-deletions-no-text = Ohne Text
chats-bring-back = Zurückholen
    .label = „{ $name }“ zurückholen

## Into files and out of them

chats-export-sheet = Mit Bildern exportieren?
chats-export-size = Die Bilder belegen etwa { $size }.
chats-export-cancel = Abbrechen
chats-export-now = Exportieren
chats-export-choices = Was mit den Bildern geschieht
chats-export-stripped = Bilder ohne Ort und Kamera
    .words = Wo, wann und womit sie aufgenommen wurden, wird nicht mit exportiert.
chats-export-unchanged = Bilder, wie sie sind
    .words = Die Dateien, Byte für Byte.
chats-export-shown = Bilder, wie sie hier zu sehen sind
    .words = In der Datei selbst; wo, wann und womit sie aufgenommen wurden, verrät sie nicht.
chats-export-left-out = Keine Bilder
    .words = Nur ihre Namen.
chats-exported = Exportiert nach { $path }
chats-exported-views =
    { $pictures ->
        [one] { $pictures } Bild als kleinere Kopie, ohne die Angaben aus seiner Datei.
       *[other] { $pictures } Bilder als kleinere Kopien, ohne die Angaben aus ihren Dateien.
    }
chats-exported-missing =
    { $pictures ->
        [one] { $pictures } Bild fehlt: Die Datei gibt es nicht mehr.
       *[other] { $pictures } Bilder fehlen: Die Dateien gibt es nicht mehr.
    }
chats-imported =
    { $chats ->
        [one] { $chats } Chat
       *[other] { $chats } Chats
    } mit { $messages ->
        [one] { $messages } Nachricht
       *[other] { $messages } Nachrichten
    }{ $files ->
        [1] { "" }
       *[other] { " " }aus { $files } Dateien
    } hinzugefügt.{ $leftOut ->
        [0] { "" }
        [one] { " " }{ $leftOut } Teil ausgelassen, für den es hier keinen Platz gibt, etwa ein Bild.
       *[other] { " " }{ $leftOut } Teile ausgelassen, für die es hier keinen Platz gibt, etwa Bilder.
    }{ $missing ->
        [0] { "" }
        [one] { " " }{ $missing } Bild fehlt: nicht in der Datei oder beschädigt.
       *[other] { " " }{ $missing } Bilder fehlen: nicht in der Datei oder beschädigt.
    }
chats-not-imported =
    { $files ->
        [one] { $files } weitere Datei konnte auch nicht importiert werden.
       *[other] { $files } weitere Dateien konnten auch nicht importiert werden.
    }

## Chats that cannot be opened

chats-trouble-corrupt = Die Chats sind beschädigt
chats-trouble = Die Chats konnten nicht geöffnet werden
chats-trouble-restore = Kopie vom { $date } wiederherstellen
chats-trouble-newer = Die Kopie ist { $size } groß. Die neuere Datei bleibt daneben erhalten, es geht also nichts verloren.
chats-trouble-damaged = Die Kopie ist { $size } groß. Die beschädigte Datei bleibt daneben erhalten, es geht also nichts verloren.
