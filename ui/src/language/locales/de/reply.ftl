### Made by a machine; no native speaker has read it yet.

## Buttons of a question, a reply and a summary

reply-copy = Kopieren
reply-edit = Bearbeiten
    .continue = Weiter bearbeiten
    .cancel = Abbrechen
reply-edited = Bearbeitet

## A question

reply-question = Du
    .message = Deine Nachricht
    .pictures = Bilder hinzufügen
    .picture-read = Ein Bild wird noch gelesen.
    .empty = Es gibt noch keine Nachricht zum Senden.
    .kept = Die frühere Version bleibt erhalten.
    .send = Senden

## A reply

reply-name = Antwort
reply-continue = Fortsetzen
    .broken = Von hier fortsetzen
reply-again = Noch einmal
    .broken = Erneut versuchen
reply-interrupted = Die Antwort wurde unterbrochen, bevor sie fertig war.
reply-failed = Die Antwort ist fehlgeschlagen; ein Grund wurde nicht genannt.
    .hint = Versuche es erneut.
reply-kept = { $words ->
    [0] Was oben steht, bleibt erhalten.
    [one] Das Wort oben bleibt erhalten.
   *[other] Die { $words } Wörter oben bleiben erhalten.
}
reply-stopped = Gestoppt
    .tokens = Bei { $tokens } Token gestoppt
    .longest = Bei maximaler Antwortlänge gestoppt
reply-sources = Quellen
    .close = Schließen

## The form of a reply or a summary

reply-form = Die Antwort
    .summary = Die Zusammenfassung
    .empty = Die Antwort wäre leer.
    .summary-empty = Die Zusammenfassung wäre leer.
    .unchanged = Noch ist nichts geändert.
    .goes-on = Das Modell schreibt von deinem Text aus weiter. Sein eigener bleibt daneben erhalten.
    .save = Sichern

## What the model thought

reply-thinking = Denkt nach …
    .seconds = Denkt nach … { $seconds } s
    .unfinished = Denken, nicht abgeschlossen
    .answer-now = Jetzt antworten
    .answer-now-why = Beendet das Denken; die Antwort wird mit dem geschrieben, was bisher gedacht ist.
reply-thought = { $seconds } s nachgedacht
    .brief = Weniger als eine Sekunde nachgedacht
    .unknown = Vor der Antwort nachgedacht
reply-thought-cut = { $seconds } s nachgedacht, bis zur Grenze
    .brief = Weniger als eine Sekunde nachgedacht, bis zur Grenze
    .unknown = Vor der Antwort nachgedacht, bis zur Grenze

## How a reply was made

reply-page-compare = Mit und ohne vergleichen
reply-page-copy = Als JSON kopieren
reply-page-auto = „Auto“ verwenden
reply-page-measure = Messen
reply-page-speed = Tempo im Verlauf
    .tokens = Token
    .passes = Durchgänge
    .first = Erstes Token nach
    .thinking = Beim Denken
    .answer = Beim Antworten
    .plain = Ohne Entwürfe
    .beside = Neben anderen Antworten
    .beside-passes = { $shared } von { $steps } Durchgängen
reply-page-guesses = Entwürfe nach Stelle
    .share = { $share } angenommen
    .draft-model = Entwürfe von DFlash
    .text = Entwürfe aus dem Text
    .accepted = { $accepted } von { $drafted } angenommen
reply-page-parts = Denken und Antwort
reply-page-time = Wohin die Zeit ging
reply-page-prompt = Der Prompt
    .tokens = { $tokens } Token
    .cached = Gemerkt
    .fresh = Neu gelesen
    .pictures = Bilder
    .context = Kontext am Ende
    .unseen = { $unseen }.
reply-page-memory = Arbeitsspeicher
    .most = Der meiste Arbeitsspeicher, den die Engine belegt hat, seit diese Antwort oder eine gleichzeitig geschriebene begann: das Modell, seine Chats und was nebenbei berechnet wurde.
    .chat = Für diesen Chat
    .about = etwa { $bytes }
reply-page-settings = Einstellungen dieser Antwort
    .sampling = Sampling
    .seed = Startwert
    .again = Noch einmal mit diesem Startwert
    .again-same = dieselben Wörter, wenn der Prompt gleich gelesen wird
    .again-alike = ebenso wahrscheinliche Wörter, vielleicht andere
    .model = Modell
    .build = Programmversion
reply-page-reveal = Entwürfe im Text einblenden
    .key = Wörter, die vorausgeraten wurden
reply-ahead = { $place } voraus
    .more = { $place } oder mehr voraus

## Charts of a reply

reply-position = Stelle { $place }: { $accepted } von { $drafted } Entwürfen angenommen, { $share } Prozent.
    .count = { $accepted } von { $drafted }
reply-depth = Entwürfe pro Durchgang im Verlauf
    .range = { $first } bis { $last }
    .words = Entwürfe pro Durchgang über { $steps } Durchgänge: { $first } am Anfang, { $last } am Ende, zwischen { $least } und { $most }.
reply-parts-thinking = Denken
reply-parts-answer = Antwort
reply-parts-tokens = Token
reply-parts-passes = Durchgänge
reply-parts-per-pass = pro Durchgang
reply-parts-accepted = angenommen
    .none = keine Entwürfe
reply-time = Das Schreiben dauerte { $time }: { $parts }.
    .draft = Entwerfen
    .verify = Prüfen
    .sample = Ziehen
    .other = Sonstiges

## A summary

reply-summary = Zusammenfassung des bisher Gesagten
    .whole = Ganzen Chat zeigen
    .by = Geschrieben von { $model }
reply-summarise = Älteren Teil zusammenfassen
    .title = In einem neuen Chat. Dieser bleibt, wie er ist.
    .title-temporary = In einem neuen Chat. Dieser wird geschlossen, weil er temporär ist.
    .running = Die Zusammenfassung wird geschrieben.
    .done = Die Zusammenfassung ist fertig. Der Chat geht in einem neuen weiter.
reply-summarising = Der ältere Teil wird zusammengefasst
    .part = Teil { $part } von { $of } wird zusammengefasst
    .hint = Der Chat geht in einem neuen weiter, mit den neuesten Nachrichten im Wortlaut. Dieser bleibt, wie er ist.
    .hint-temporary = Der Chat geht in einem neuen weiter, mit den neuesten Nachrichten im Wortlaut. Dieser wird geschlossen, weil er temporär ist.
    .stop = Stoppen

## Versions

reply-versions = Versionen
    .at = { $at } von { $of }
    .earlier = Frühere Version
    .later = Spätere Version
    .no-earlier = Es gibt keine frühere Version.
    .no-later = Es gibt keine spätere Version.
    .none = keine
    .of-one = { $role ->
        [user] { $count } von einer Frage
        [assistant] { $count } von einer Antwort
       *[other] { $count } von einer Nachricht
    }
    .of-several = { $role ->
        [user] von { $count } Fragen
        [assistant] von { $count } Antworten
       *[other] von { $count } Nachrichten
    }
reply-side-by-side = Nebeneinander
    .stop = Stoppen
    .back = Zurück zum Chat
    .back-esc = Zurück zum Chat (Esc)
    .keep = Diese behalten
    .left = Linke Version
    .right = Rechte Version
reply-version = Version { $version }
    .of = Version { $version } von { $of }

## Messages that wait

reply-waiting = Wartende Nachrichten
    .until = Wird gesendet, wenn die Antwort fertig ist:
    .held = { $why } Noch nicht gesendet:
    .send = Jetzt senden
    .edit = Bearbeiten
    .drop = Nicht senden
    .files = { $count } Dateien
    .dropped = Die Nachricht wird nicht gesendet.
reply-held-ended = Die Antwort ist zu Ende.
reply-held-stopped = Die Antwort wurde gestoppt.
reply-held-unfinished = Die Antwort wurde nicht fertig.

## How replies are written

reply-settings = Antworten in diesem Chat
reply-settings-words = Wortwahl
    .term = Sampling
reply-settings-thinking = Denken
reply-settings-system = Was es immer wissen soll
    .term = System-Prompt
    .label = System-Prompt
    .placeholder = Wer du bist, was du magst, wie es schreiben soll
reply-scope = Diese Einstellungen gelten für
    .label = Wofür die Bedienelemente unter der Nachricht gelten
    .all = Alle Chats
    .all-words = MTP, Sampling und Denken ändern sich in allen Chats, die keine eigenen Einstellungen haben.
    .this = Diesen Chat
    .this-words = MTP, Sampling und Denken ändern sich nur in diesem Chat.
reply-label = Standard
    .greedy = Greedy
    .sampled = Sampling
    .length = andere Länge
    .system-prompt = System-Prompt
    .changes = { $count } Änderungen
reply-thinking-choice = Denken
    .longest = Maximale Denklänge
reply-in-tokens = In Token

## Presets

reply-preset = Voreinstellung
    .standard = Standard
reply-preset-keep = Als Voreinstellung sichern
    .update = „{ $name }“ aktualisieren
    .delete = Löschen
    .name = Name einer neuen Voreinstellung
    .no-name = Die Voreinstellung hat noch keinen Namen.
    .keep = Sichern
reply-preset-chosen = „{ $name }“ hat System-Prompt und Einstellungen dieses Chats ersetzt.
    .standard = Die Werte des Modells haben System-Prompt und Einstellungen dieses Chats ersetzt.
    .back = Der frühere System-Prompt und die früheren Einstellungen sind zurück.
reply-preset-updated = „{ $name }“ wurde aktualisiert.
reply-preset-deleted = „{ $name }“ wurde gelöscht.

## Sampling

reply-sampling = Wie Wörter gewählt werden
    .model = Vom Modell
    .greedy = Greedy
    .greedy-words = Immer gewinnt das wahrscheinlichste Wort; so bekommt dieselbe Frage dieselbe Antwort.
    .own = Eigene
    .own-words = Wörter werden innerhalb dieser Grenzen nach ihrer Wahrscheinlichkeit gezogen.
reply-seed = Startwert { $seed }
    .new = jedes Mal ein neuer Startwert
reply-temperature = Temperatur
    .words = Höher ist freier
reply-top-p = Top-p
    .words = 1 behält alle
reply-top-k = Top-k
    .words = 0 behält alle
reply-min-p = Min-p
    .words = 0 ist aus
reply-xtc-chance = XTC-Chance
    .words = Wie oft Favoriten entfallen
reply-xtc-threshold = XTC-Schwelle
    .words = Favoriten liegen darüber
reply-longest = Maximale Antwortlänge
reply-own-seed = Startwert
    .words = Gleicher Startwert, gleicher Text
    .empty = jedes Mal neu

## Notes

reply-temporary-left = Der temporäre Chat ist geschlossen. Nichts davon bleibt erhalten.
reply-pasted-large = { $name } ist größer als { $megabytes } MB; das ist zu viel zum Einsetzen.
reply-pasted-all-large = Diese Dateien sind zusammen größer als { $megabytes } MB; das ist zu viel zum Einsetzen.
    .hint = Wähle sie mit der Taste aus oder ziehe sie auf das Fenster.
reply-pasted-unread = { $name } kann nicht gelesen werden.
reply-pasted-instead = Wähle die Datei mit der Taste aus oder ziehe sie auf das Fenster.
