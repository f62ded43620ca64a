### Made by a machine; no native speaker has read it yet.

palette-name = Gehe zu
palette-field = Zu einem Chat gehen oder etwas tun
    .label = Chats, Befehle, Modelle und Einstellungen
palette-choices = Auswahl
palette-nothing = Nichts gefunden.

## What kind of thing a choice is

palette-chats = Chats
palette-commands = Befehle
palette-projects = Projekte
palette-prompts = Prompts
palette-models = Modelle
palette-settings = Einstellungen

## Choices

palette-think = Denken: { $mode }
palette-summarise = Älteren Teil dieses Chats zusammenfassen
palette-open-project = Projekt: { $name }
palette-insert-prompt = Prompt: { $name }
palette-use-model = { $name } verwenden
palette-ask-two = Zwei Modelle fragen: { $first } und { $second }
palette-open-settings = Einstellungen: { $page }

## The list of keys

palette-shortcuts = Die Palette findet alles nach Namen.
palette-keys-send = Nachricht senden
palette-keys-line = Neue Zeile beginnen
palette-keys-list = Durch eine Liste gehen
palette-keys-next-area = Nächster Bereich des Fensters
palette-keys-previous-area = Vorheriger Bereich des Fensters
palette-keys-close = Schließen, was offen ist, oder zurück zum Chat
