### Made by a machine; no native speaker has read it yet.

## In the list

projects-more = Mehr zu „{ $name }“
projects-name-field = Name des Projekts
    .placeholder = Neues Projekt
projects-chats =
    { $chats ->
        [one] { $chats } Chat
       *[other] { $chats } Chats
    }
projects-new-chat = Neuer Chat hier
projects-show-chats = Chats einblenden
projects-hide-chats = Chats ausblenden
projects-add-files = Dateien hinzufügen …
projects-rename = Umbenennen
projects-delete = Löschen

## The page

projects-knows = Was jeder Chat hier weiß
    .placeholder = Worum es geht, was entschieden ist, wie Antworten sein sollen
projects-begins-with = Neue Chats beginnen hier mit <settings>{ $settings }</settings>.
projects-keep-settings = Einstellungen von unten übernehmen
    .title = Was unter der Nachricht eingestellt ist, gilt dann für jeden neuen Chat hier. Vorhandene Chats behalten ihre Einstellungen.
projects-files = Dateien
    .note = Kurze Dateien werden ganz gelesen; in langen wird gesucht, was zu jeder Frage passt.
projects-tokens = etwa { $tokens } Token
projects-tokens-of = etwa { $tokens } von { $context } Token
projects-file-remove = Entfernen
    .label = { $name } entfernen
projects-file-reading = wird gelesen
projects-file-waiting = wartet
projects-page-add-files = Dateien hinzufügen
projects-folder-add = Ordner hinzufügen
projects-folder-change = Anderer Ordner
projects-folder-leave = Weglassen
    .title = Aus dem Ordner wird nichts mehr gelesen. Er selbst bleibt, wie er ist.
projects-folders = Ein Projekt hat einen Ordner, und das sind { $folders }.
    .hint = Lege nur den ab, der es sein soll.
projects-page-chats = Chats
    .none = Mit dem, was du unten fragst, beginnt der erste.
projects-chat-writing = schreibt
projects-chats-more = Mehr zeigen

## Moving a chat

projects-move-sheet = „{ $title }“ bewegen
projects-move-choices = Projekt
projects-move-none = Kein Projekt
projects-move-new = Oder in ein neues Projekt
    .placeholder = Name des neuen Projekts
projects-move-cancel = Abbrechen
projects-move = Bewegen
    .there = Der Chat ist schon dort.

## Deleting a project

projects-delete-sheet = „{ $name }“ löschen?
projects-delete-cancel = Abbrechen
projects-delete-with-chats =
    { $chats ->
        [one] Mit seinem Chat löschen
       *[other] Mit seinen { $chats } Chats löschen
    }
projects-delete-keep-chats = Chats behalten
projects-delete-words =
    { $files ->
        [0] Das Projekt wird gelöscht.
        [one] Das Projekt und seine Datei werden gelöscht.
       *[other] Das Projekt und seine Dateien werden gelöscht.
    } { $chats ->
        [one] Sein Chat kommt zurück in die Liste oder wird mit ihm gelöscht.
       *[other] Seine Chats kommen zurück in die Liste oder werden mit ihm gelöscht.
    } Alles lässt sich zurückholen, bis du Foretoken beendest.

## What was done

projects-chat-left = Der Chat gehört nicht mehr zu seinem Projekt.
projects-chat-moved = Der Chat wurde nach „{ $name }“ bewegt.
projects-deleted = „{ $name }“ wurde gelöscht.
projects-deleted-with-chats =
    „{ $name }“ wurde mit { $chats ->
        [one] { $chats } Chat
       *[other] { $chats } Chats
    } gelöscht.
projects-deleted-unnamed = Das Projekt
projects-files-replaced =
    { $files ->
        [one] Eine Datei mit demselben Namen wurde ersetzt.
       *[other] Dateien mit denselben Namen wurden ersetzt.
    }
projects-file-removed = „{ $name }“ wurde aus dem Projekt entfernt.
