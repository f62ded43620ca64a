### Made by a machine; no native speaker has read it yet.

## What screen readers are told of a reply

frame-reply-begun = Eine Antwort wird geschrieben.
frame-reply-interrupted = Antwort unterbrochen.
frame-reply-stopped = Antwort gestoppt.
frame-reply-cut = Antwort durch die Token-Grenze abgeschnitten.
frame-reply-failed = Antwort fehlgeschlagen.
frame-reply-finished = Antwort fertig.
    .speed = Antwort fertig, { $speed } Token pro Sekunde.
    .gain = Antwort fertig, { $factor }-mal so schnell wie ohne Entwürfe.

## The window

frame-to-project = Zum Projekt „{ $name }“
frame-more-for-chat = Mehr zu diesem Chat
frame-more-for-project = Mehr zu diesem Projekt
frame-more-for-chats = Mehr zu allen Chats
frame-add-files = Dateien hinzufügen
frame-drop = Lege hier ein Bild, eine Textdatei oder ein Dokument ab, um es anzuhängen, den Ordner eines Modells, um es hinzuzufügen, oder eine JSON-Datei, um ihre Chats zu importieren.
frame-drop-project = Lege hier Dateien ab, um sie zu „{ $name }“ hinzuzufügen, oder einen Ordner, dessen Dateien dazugehören sollen.
frame-undo = Widerrufen
frame-dismiss = Schließen
frame-settings = Einstellungen
frame-sidebar = Chats und Ansichten
frame-sidebar-width = Breite der Seitenleiste
    .now = { $pixels } Pixel
    .hint = Zum Ändern der Breite ziehen; ein Doppelklick setzt sie zurück
frame-minutes-left = { $minutes } min
frame-hours-left = { $hours } h
frame-progress = { $stage }: { $name }
frame-new-chat-keys = Neuer Chat ({ $keys })

## An empty chat

frame-temporary = Temporärer Chat
    .words = Von diesem Chat wird nichts gespeichert. Er ist weg, sobald du ihn verlässt, außer du behältst ihn.
frame-new-chat = Neuer Chat
frame-stays-here = Nichts, was du schreibst, verlässt { -here(case: "accusative") }.
    .first = Nichts, was du schreibst, verlässt { -here(case: "accusative") }. Kein Konto nötig.

## Why nothing can be sent

frame-engine-starting = Die Engine startet.
frame-loading = { $model } wird geladen
    .progress = Gelesene Gewichte
    .words = Du kannst schon schreiben. Die Nachricht wird gesendet, sobald das Modell bereit ist.
frame-try-again = Erneut versuchen
frame-load-again = Erneut laden
frame-choose-model = Modell auswählen

## The first start

# The words in <one> are tinted as a first guess, those in <two> as a second one.
frame-first = <one>Qwen</one><two> auf</two> { PLATFORM() ->
    [mac] deinem<one> Mac</one>
   *[other] diesem<one> Computer</one>
},<one> immer</one><two> ein paar</two> Wörter<one> voraus</one>.
    .words = Das Modell rät die nächsten Wörter, prüft sie alle auf einmal und behält die richtigen. Du bekommst denselben Text, nur früher. Getönte Wörter wurden richtig geraten; je kräftiger der Ton, desto weiter voraus.
frame-try = Jetzt ausprobieren
    .words = Das Demomodell ist winzig und antwortet sofort, aber nur auf Englisch.
frame-example-story = Eine Geschichte von einer Eule und einer Glocke erzählen
frame-example-table = Eine Tabelle mit vier Ländern erstellen
frame-example-prediction = Was ist Multi-Token-Prediction?

## The model to work with

frame-offer = Ein Modell zum Arbeiten
    .get = Ein Modell zum Arbeiten laden
frame-other-models = Andere Modelle
frame-download = Laden
    .prepared = Der Download wird vorbereitet.
    .open = Zum Download
frame-coming = Es kann verwendet werden, sobald es bereit ist.
    .demo = Du kannst mit dem Demomodell weitermachen.
frame-is-here = Es ist auf { -here(case: "dative") }:
frame-use = Verwenden
    .label = Verwenden: { $name }
frame-use-elsewhere = Verwenden
    .several = Verwenden
frame-anything = Lade eines oder öffne eines, das schon auf { -here(case: "dative") } ist.
    .demo = Das Demomodell kennt kurze Geschichten, ein paar Fakten und Rechenaufgaben und diese App. Für ein echtes Gespräch lade ein größeres oder öffne eines, das schon auf { -here(case: "dative") } ist.
    .get = Modell laden
frame-error-details = Einzelheiten (auf Englisch)
