### Made by a machine; no native speaker has read it yet.

## Whether a model fits

model-fit-well = Passt gut
    .fact = passt gut
    .sentence = Es braucht { $need } bei einem Kontext von { $context } Token, und auf { -here(case: "dative") } sind { $available } verfügbar.
model-fit-tight = Knapp
    .fact = knapp
    .sentence = Es braucht { $need } bei einem Kontext von { $context } Token, und auf { -here(case: "dative") } sind { $available } verfügbar. Schließe andere große Apps, solange du es verwendest.
model-fit-too-big = Zu groß
    .fact = zu groß
    .numbers = zu groß: braucht { $needs }, verfügbar sind { $gives }
    .sentence = Es braucht { $need } bei einem Kontext von { $context } Token, aber auf { -here(case: "dative") } sind nur { $available } verfügbar.
model-fit-unknown = nicht bekannt, ob es passt
model-missing = Braucht { $need }: { $missing } mehr, als auf { -here(case: "dative") } verfügbar
model-recommended = Das fähigste, das gut passt, mit { $spare } Reserve

## What a chat of some length holds

model-chat-questions = Ein paar Fragen und Antworten
model-chat-document = Ein langer Chat oder ein Dokument
model-chat-documents = Mehrere Dokumente
model-chat-short-book = Ein kurzes Buch
model-chat-book = Ein Buch
model-chat-longest = So lang, wie Modelle es zulassen

## What a model is

model-head-with = Mit MTP-Kopf
    .fact = mit MTP-Kopf
model-head-none = Kein MTP-Kopf
    .fact = kein MTP-Kopf
model-head-unknown = MTP-Kopf nicht bekannt
model-head-stripped = MTP-Kopf: angegeben, aber entfernt
model-head-unusable = MTP-Kopf: vorhanden, aber nicht verwendbar
model-head-absent = MTP-Kopf: keiner
model-mtp-stripped = MTP entfernt
model-mtp-unusable = MTP nicht verwendbar
model-mtp-absent = kein MTP
model-guesses = rät bis zu { $most } Token voraus
model-guesses-head = rät bis zu { $most } Token voraus (MTP-Kopf)
model-sees = sieht Bilder
model-sees-no-memory = zu wenig Arbeitsspeicher, um Bilder zu sehen
model-made-for = gemacht für { $model }
model-parameters-active = { $all }, davon { $active } aktiv
model-download-converted = { $size }, { $converted } als 4-bit
model-choice-offline = Die Festplatte ist nicht angeschlossen
model-choice-broken = Kann nicht geladen werden
model-choice-built-in = In der App enthalten
model-draft-size = etwa { $size }

## What was measured of its speed

model-tuned = Gemessen
model-tuned-plain = Am schnellsten ohne Entwürfe: { $speed } tok/s. Vorausraten bringt hier nichts.
model-tuned-drafts = Am schnellsten mit { $drafts ->
    [one] { $drafts } Entwurf
   *[other] { $drafts } Entwürfen
} im Voraus: { $speed } tok/s, { $gain }-mal so schnell wie ohne
model-tuned-drafts-alone = Am schnellsten mit { $drafts ->
    [one] { $drafts } Entwurf
   *[other] { $drafts } Entwürfen
} im Voraus: { $speed } tok/s
model-tuned-vocabulary = { $tuned }. Entwürfe bestehen nur aus den { $tokens } häufigsten von { $vocabulary } Token: { $faster } schneller, { $now } angenommen statt { $before }

model-speed-plain = { $plain } ohne Entwürfe
model-speed-both = { $plain } ohne, { $guessing } mit Entwürfen
model-speed-about-plain = etwa { $plain } ohne Entwürfe
model-speed-about-guessing = etwa { $guessing } mit Entwürfen
model-speed-range = { $low } bis { $high }
model-speed-measured = Gemessene Geschwindigkeit { $speed } tok/s
    .spoken = Auf { -here(case: "dative") } gemessen: { $plain } ohne Entwürfe, { $guessing } mit Entwürfen, in Token pro Sekunde.
    .spoken-plain = Auf { -here(case: "dative") } gemessen: { $plain } ohne Entwürfe, in Token pro Sekunde.
model-speed-expected = Erwartete Geschwindigkeit { $speed } tok/s
    .spoken = Auf { -here(case: "dative") } erwartet, nicht gemessen: { $plain } ohne Entwürfe, { $guessing } mit Entwürfen, in Token pro Sekunde.
    .spoken-plain = Auf { -here(case: "dative") } erwartet, nicht gemessen: { $plain } ohne Entwürfe, in Token pro Sekunde.
model-legend =
    .plain = ohne Entwürfe
    .guessing = mit Entwürfen, tok/s
    .expected = auf { -here(case: "dative") } erwartet, tok/s

## When it was used, and where it is

model-used = Verwendet am { $date }
model-used-today = Heute verwendet
model-used-yesterday = Gestern verwendet
model-used-never = Noch nicht verwendet

model-place-library = In der Bibliothek
model-place-cache = Hugging-Face-Cache
model-place-studio = LM Studio
model-place-folders = Geöffnete Ordner
model-place-others = Andere Modelle

model-offline = Offline: Schließe die Festplatte mit { $path } an
model-offline-library = Offline: ist wieder da, sobald die Festplatte der Bibliothek angeschlossen ist
model-library-away = Die Festplatte der Bibliothek ist nicht angeschlossen
model-library-offline = Die Festplatte der Bibliothek ist nicht angeschlossen.
model-disk-away = „{ $disk }“ ist nicht angeschlossen
model-comes-back = { $models ->
    [0] Die Bibliothek liegt darauf und ist mit der Festplatte wieder da.
    [one] { $models } Modell liegt darauf. Es ist mit der Festplatte wieder da.
   *[other] { $models } Modelle liegen darauf. Sie sind mit der Festplatte wieder da.
}

## Why it cannot be deleted

model-kept-in-use = Es wird gerade verwendet
model-kept-built-in = Es gehört zur App
model-kept-cache = Es gehört zum Hugging-Face-Cache
model-kept-studio = Es gehört zu LM Studio

## What a job does. Each begins with a word that is small within a line.

model-stage-queued = Noch nicht an der Reihe
model-stage-held-chat = Wartet auf den Chat
model-stage-held-memory = Wartet auf Arbeitsspeicher
model-stage-downloading = Wird geladen
model-stage-paused = Pausiert
model-stage-waiting = Keine Verbindung
model-stage-verifying = Prüft die Dateien
model-stage-probing = Misst, was jeder Teil kostet
model-stage-converting = Wird umgewandelt
model-stage-comparing = Wird mit dem Original verglichen
model-stage-tuning = Misst die Geschwindigkeit
model-stage-moving = Wird verschoben
model-stage-failed = Abgebrochen
model-stage-done = Bereit
model-job-compared = Verglichen
model-job-measured = Gemessen

model-held-chat = Die Geschwindigkeit wird gemessen, sobald keine Antwort geschrieben und kein Modell geladen wird.
model-held-memory = Zusammen mit dem geladenen Modell braucht es { $need }, und auf { -here(case: "dative") } sind { $available } verfügbar. Wähle ein kleineres Modell für den Chat, dann geht es von selbst weiter.

## How far it is

model-progress = { $done } von { $total }
model-bytes-per-second = { $bytes }/s
model-left-moment = noch ein paar Sekunden
model-left-seconds = noch { $seconds } s
model-left-minutes = { $minutes ->
    [one] noch { $minutes } Minute
   *[other] noch { $minutes } Minuten
}
model-left-hours = noch { $hours } Std. { $minutes } Min.
model-left-days = noch mehr als ein Tag

## What follows, after what is done now

model-then = wird dann { $done }
model-then-checked = geprüft
model-then-downloaded = geladen
model-then-measured = gemessen
model-then-compared = verglichen
model-then-converted = umgewandelt
model-then-moved = verschoben

## That it has ended, for those who hear it

model-ended = { $name } ist bereit.
model-ended-measured = { $name } ist gemessen.
model-ended-compared = { $name } ist mit dem Original verglichen.
model-ended-moved = Die Modellbibliothek ist umgezogen.
model-ended-failed = { $name } wurde abgebrochen. { $why }

## What follows a download, and what it needs

model-after-converted = Die Dateien werden geprüft, dann wird die Geschwindigkeit gemessen.
model-after-published = Die Dateien werden geprüft und bleiben, wie sie veröffentlicht sind. Dann wird die Geschwindigkeit gemessen.
model-after-conversion = Die Dateien werden geprüft, das Modell wird in { $bits }-bit umgewandelt und seine Geschwindigkeit gemessen. Danach werden die Originaldateien entfernt.
    .keeping = Die Dateien werden geprüft, das Modell wird in { $bits }-bit umgewandelt und seine Geschwindigkeit gemessen. Auch die Originaldateien bleiben.
model-after-conversion-sized = Die Dateien werden geprüft, das Modell wird in { $bits }-bit umgewandelt, belegt dann etwa { $size }, und seine Geschwindigkeit wird gemessen. Danach werden die Originaldateien entfernt.
    .keeping = Die Dateien werden geprüft, das Modell wird in { $bits }-bit umgewandelt, belegt dann etwa { $size }, und seine Geschwindigkeit wird gemessen. Auch die Originaldateien bleiben.
model-space-conversion = Für das Umwandeln fehlen etwa { $missing } freier Platz.
model-space-download = Der Download belegt { $size }, und { $free } sind frei. Schaffe Platz oder verschiebe die Bibliothek.
model-gone = { $repo } ist nicht mehr auf dem Hub.
    .hint = Das Modell, das hier ist, funktioniert weiter.

## The models of other programs

model-elsewhere-studio = { $models } Modelle im Ordner von LM Studio
model-elsewhere-cache = { $models } Modelle im Hugging-Face-Cache
model-elsewhere-both = { $studio ->
    [one] { $studio } Modell
   *[other] { $studio } Modelle
} im Ordner von LM Studio, { $cache } im Hugging-Face-Cache
model-elsewhere-one-studio = { $name } im Ordner von LM Studio
model-elsewhere-one-cache = { $name } im Hugging-Face-Cache

## For which machine a model is offered. $sound matters in English alone.

model-for-machine = Für { -here(case: "accusative") }:
    .chip = Für { -here(case: "accusative") }, { $sound ->
       *[any] einen
    } { $chip }:
    .memory = Für { -here(case: "accusative") } mit { $memory }:
    .both = Für { -here(case: "accusative") }, { $sound ->
       *[any] einen
    } { $chip } mit { $memory }:

## A conversion

model-convert = Umwandeln
model-convert-sheet = { $name } umwandeln
model-convert-why = Mit weniger Bit pro Gewicht braucht ein Modell weniger Arbeitsspeicher und antwortet schneller. Der MTP-Kopf bleibt erhalten.
model-convert-then = Das umgewandelte Modell kommt in die Bibliothek, und seine Geschwindigkeit wird gemessen.
    .keeping = Das umgewandelte Modell kommt in die Bibliothek, und seine Geschwindigkeit wird gemessen. Das Original bleibt, wie es ist.
model-convert-later = Sobald die Messung fertig ist, kannst du eine Größe wählen.
model-convert-measuring = { $stage }: { $share }
model-convert-looking = Messergebnisse werden gesucht …
model-convert-here = Ein Modell dieser Größe ist schon hier.
model-conversion = Umwandlung
model-convert-4-bit = Empfohlen. Klein und schnell, mit wenig Verlust
model-convert-8-bit = Doppelt so groß, fast ohne Verlust
model-convert-none = Keine
    .words = Wie veröffentlicht: am größten und langsamsten
model-convert-quality = Nach Qualität
    .words = Jeder Teil bekommt so viele Bit, wie er braucht. Du wählst, wie nah am Original
model-keep-original = Originaldateien nach dem Umwandeln behalten

## What is measured before a size is chosen

model-measure = Messen
model-measure-again = Erneut messen …
model-measured-on = Gemessen an: { $text }.
model-measure-first = Zuerst messen
    .words = Zuerst wird gemessen, wie sehr jeder Teil des Modells unter weniger Bit leidet. Dann wählst du eine Größe, und jeder Teil bekommt so viele Bit, wie er braucht.
    .takes = Messen und Umwandeln brauchen { $time }, { $memory } Arbeitsspeicher und { $disk } auf der Festplatte. Du kannst weiter chatten und es pausieren.
model-measured-text = Text: <name>{ $text }</name>
    .choose = Datei wählen …
    .own = Texte des Programms verwenden
    .which = Mit einem Text, wie du ihn auch sonst verwendest, passt das Ergebnis besser zu dir: reiner Text, Markdown oder JSON-Zeilen.
    .private = Die Datei wird auf { -here(case: "dative") } gelesen und weder kopiert noch gesendet. Bis zum Umwandeln muss sie bleiben, wo sie ist.
model-about-minutes = { $minutes ->
    [0] weniger als eine Minute
    [1] etwa eine Minute
   *[other] etwa { $minutes } Minuten
}
model-about-hours = { $hours ->
    [1] etwa eine Stunde
   *[other] etwa { $hours } Stunden
}
model-text-own = Texte des Programms
model-text-replies = Eigene Antworten des Originals
model-text-file = Eine Datei von dir

## A size to choose, and how close it is to the original

model-slider = Größe und Qualität
model-size = { $size }, { $bits } Bit pro Gewicht
model-size-here = Schon hier: { $name }
model-memory-left = { $left } bleiben frei von { $available }, die auf { -here(case: "dative") } verfügbar sind
model-memory-missing = Braucht { $missing } mehr, als auf { -here(case: "dative") } verfügbar
model-speed-beside-4-bit = Etwa { $factor }-mal so schnell wie 4-bit, erwartet
model-measured-closeness = Gemessen: weicht bei { $differing ->
    [0] weniger als 1 von 100
   *[other] etwa { $differing } von 100
} Wörtern vom Original ab (KL-Divergenz { $kl })
model-expected-closeness = Erwartet, nicht gemessen. Der Vergleich mit dem Original folgt nach dem Umwandeln
model-then-said = { $before }. { $next }
model-closeness-small = Klein
model-closeness-balanced = Ausgewogen
model-closeness-close = Nah am Original
model-closeness-none = weiter weg als Klein

## The evidence of how close a model is

model-quality = Qualität
model-evidence = Wählt in { $often } von 100 Fällen dasselbe nächste Token wie das Original, gemessen an { $tokens } Token, die beim Auswählen keine Rolle gespielt haben.
model-closeness = KL-Divergenz { $kl } nat pro Token: { $name }
model-kl-least = unter 0,000001
model-all-figures = Alle Werte
model-figure-kl = KL-Divergenz
    .words = { $kl } nat pro Token
model-figure-p99 = 99 von 100 Token
    .words = unter { $kl }
model-figure-perplexity = Perplexität
model-figure-drafts = Angenommene Entwürfe
model-figure-text = Text
    .tokens = { $tokens } Token
model-figure-bits = Bit pro Gewicht
model-figure-matrices = Matrizen
model-figure-original = Original { $value }
model-matrices-bits = { $matrices } in { $bits } Bit
model-matrices-whole = { $matrices } nicht quantisiert
