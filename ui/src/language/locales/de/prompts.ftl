### Made by a machine; no native speaker has read it yet.

prompts-page = Prompts
    .note = Gib am Anfang einer Nachricht / ein, um einen auszuwählen. Was in { "{{doppelten Klammern}}" } steht, wird dort ausgefüllt: Die Tabulatortaste springt von einer Stelle zur nächsten. An die Stelle von { "{{clipboard}}" } tritt der Text aus der Zwischenablage.
prompts-deleted = „{ $name }“ ist gelöscht.
    .undo = Widerrufen
prompts-none = Es gibt noch keine Prompts
    .words = Vier für den Anfang: zusammenfassen, umformulieren, übersetzen, Code erklären
prompts-add-examples = Beispiele hinzufügen
prompts-edit = Bearbeiten
    .label = { $name } bearbeiten
prompts-delete = Löschen
    .label = { $name } löschen
prompts-add = Prompt hinzufügen
prompts-import = Importieren …
prompts-export = Exportieren …
    .none = Es gibt keine Prompts zum Exportieren.

## A prompt that is being written

prompts-form = Prompt
    .new = Neuer Prompt
    .no-name = Der Prompt hat noch keinen Namen.
    .no-text = Der Prompt hat noch keinen Text.
prompts-name = Name
prompts-description = Beschreibung
    .placeholder = Wofür er gedacht ist, wenn du magst
prompts-text = Text
    .placeholder = Übersetze den folgenden Text in diese Sprache: { "{{Sprache}}" }.
prompts-cancel = Abbrechen
prompts-save = Sichern

## Above a message that begins with a slash

prompts-list = Prompts
    .none = Texte, die du als Prompts sicherst, werden hier angeboten.
    .open = Prompts …

## Prompts to begin with. What stands in double braces is filled in by whoever uses them.

prompts-example-summarise = Zusammenfassen
    .description = Das Wichtigste aus einem Text
    .text =
        Fasse den folgenden Text in { "{{Anzahl}}" } Punkten zusammen, je ein Satz. Lass weg, was nicht darin steht.

        { "{{Text}}" }
prompts-example-rewrite = Umformulieren
    .description = Dasselbe mit anderen Worten
    .text =
        Formuliere den folgenden Text so um, dass er { "{{klar und freundlich}}" } klingt. Behalte seinen Sinn und alle Fakten bei.

        { "{{Text}}" }
prompts-example-translate = Übersetzen
    .description = In eine andere Sprache
    .text =
        Übersetze den folgenden Text in diese Sprache: { "{{Sprache}}" }. Gib nur die Übersetzung aus.

        { "{{Text}}" }
prompts-example-explain = Code erklären
    .description = Was er tut und was schiefgehen könnte
    .text =
        Erkläre Schritt für Schritt, was dieser Code tut, und nenne, was dabei schiefgehen könnte.

        ```
        { "{{Code}}" }
        ```
