### Made by a machine; no native speaker has read it yet.

## What several places say

models-action-of = { $action }: { $name }
models-more-for = Mehr zu { $name }
models-try-again = Erneut versuchen
models-get = Laden
models-use = Verwenden
models-delete = Löschen
models-remove-from-list = Aus der Liste entfernen
models-add-folder = Ordner hinzufügen …
models-is-offline = Das Modell ist offline

## The screen

models-title = Modelle
models-here = Auf { -here(case: "dative") }
models-more = Mehr zu Modellen
models-check-updates = Nach Updates suchen
models-search-shown = Die Suche wird angezeigt
models-get-models = Modelle laden
models-storage = Speicher und Zugriff

## How long a chat is

models-context = Für Chats bis { $length }
    .title = Wofür bewertet wird, ob ein Modell passt
    .hint = Für wie lange Chats die Bewertungen gelten
    .length = Länge eines Chats
    .note = Ein längerer Chat braucht mehr Arbeitsspeicher. Ob ein Modell passt und welches empfohlen wird, wird für einen Chat dieser Länge bewertet. Eine Grenze setzt das nicht.
models-context-tokens = { $tokens } Token

## Models on this machine

models-count = { $models ->
    [one] { $models } Modell
   *[other] { $models } Modelle
}
models-count-drafts = { $models ->
    [one] { $drafts ->
        [one] { $models } Modell und ein Entwurfsmodell
       *[other] { $models } Modell und { $drafts } Entwurfsmodelle
    }
   *[other] { $drafts ->
        [one] { $models } Modelle und ein Entwurfsmodell
       *[other] { $models } Modelle und { $drafts } Entwurfsmodelle
    }
}
models-free = { $size } frei
models-only-demo = Bisher ist nur das winzige Demomodell da. Lade unten ein größeres oder füge den Ordner eines Modells hinzu, das du schon hast.
models-none = Noch ist kein Modell da. Lade unten eines oder füge den Ordner eines Modells hinzu, das du schon hast.
models-deleted = Gelöschte Modelle
models-deleted-model = { $name } wurde gelöscht. Beim Beenden werden { $size } frei.
    .undo = Widerrufen
    .bring-back = Widerrufen: { $name } zurückholen
models-in-use = in Verwendung
models-lost-head = Bei dieser Umwandlung ging der MTP-Kopf verloren.
    .get = Eines mit Kopf suchen
models-unusable-head = Der MTP-Kopf ist da, lässt sich aber nicht verwenden.
models-newer = Auf dem Hub gibt es eine neuere Version. <look>Ansehen</look>
models-loading-share = Wird geladen: { $share }
models-use-anyway = Trotzdem verwenden

## What else can be done with one

models-is-broken = Das Modell ist beschädigt
models-details-open = Details …
models-convert = Umwandeln …
    .done = Das Modell ist schon umgewandelt
models-measure = Messen
    .again = Erneut messen
    .no-head = Es gibt keinen MTP-Kopf zu messen
models-delete-with-draft = Samt Entwurfsmodell löschen

## All that is known of a model

models-not-known = Nicht bekannt
models-verdict = { $verdict }. { $why }
models-summary = { $summary }.
models-size = { $size }, { $parameters }
models-not-measured = Noch nicht
models-speed-expected = { $speed }, Token pro Sekunde; erwartet, nicht gemessen
models-too-little-known = Zu wenig bekannt, um das zu sagen
models-see-card = Siehe Modellkarte
models-fact-fit = Arbeitsspeicher
models-fact-size = Größe
models-fact-format = Format
models-fact-drafts = Entwürfe
models-fact-measured = Gemessen
models-fact-use = Verwendung
models-fact-from = Herkunft
models-fact-folder = Ordner
models-fact-download = Download
models-fact-pictures = Bilder
models-fact-speed = Geschwindigkeit
models-fact-licence = Lizenz
models-quality = Qualität
    .words = Das Modell ist offenbar aus { $original } entstanden. Wie nah es daran ist, lässt sich messen: Beide lesen dieselben Texte. Das dauert einige Minuten, und keines von beiden muss in den Arbeitsspeicher passen.
    .compare = Mit dem Original vergleichen
    .running = Der Vergleich läuft.

## Draft models

models-draft-of = Entwurfsmodell von { $name }
models-draft = Entwurfsmodell: { $name }
    .none = Entwurfsmodell: noch keines
models-lonely-drafts = Entwurfsmodelle ohne ihr Modell
models-newer-draft = Auf dem Hub gibt es eine neuere Version. <get>Laden</get>
models-draft-not-used = Nicht verwendet: Das andere Entwurfsmodell passt besser.
models-draft-refused = Sein Entwurfsmodell kann nicht verwendet werden, also geht es ohne: { $reason }
models-draft-waits = Es wird verwendet, sobald keine Antwort mehr geschrieben wird.
models-draft-offer = { $name } ist ein kleines Modell, das mehrere Wörter vorausrät; dieses hier prüft sie. Wo sich das lohnt, kommen Antworten schneller.

## The model picker

models-picker = Modell
    .none = Modell auswählen
    .loading = { $name } wird geladen · { $share }
    .get-more = Weitere Modelle laden …
    .open-folder = Ordner öffnen …
models-loaded = { $processor ->
    [cpu] { $parameters }, { $format }, { $size } auf der CPU
   *[gpu] { $parameters }, { $format }, { $size } auf der GPU
}
    .given-back = Der Arbeitsspeicher ist freigegeben. Das Modell wird bei deiner nächsten Frage geladen

## What is being worked on

models-jobs = In Arbeit
models-job-pause = Pausieren
models-job-resume = Fortsetzen
models-job-retry = Erneut versuchen
models-job-hurry = Jetzt versuchen
models-job-fetch-again = Erneut laden
models-job-up = Nach oben
    .none = Schon an erster Stelle
models-job-down = Nach unten
    .none = Schon an letzter Stelle
models-job-cancel = Abbrechen
    .asking = Abbrechen …
models-job-dismiss = Ausblenden
models-job-skip = Überspringen
models-job-files = { $all ->
    [one] { $arrived } von { $all } Datei
   *[other] { $arrived } von { $all } Dateien
}
    .label = Dateien
models-job-waits = Was angekommen ist, bleibt erhalten. Nächster Versuch in { $seconds } s.
    .now = Was angekommen ist, bleibt erhalten. Es wird erneut versucht.
models-cancel = { $name } abbrechen
    .download = Die schon geladenen Dateien von { $name } werden entfernt. Wenn du sie behalten und später weitermachen willst, pausiere den Download.
    .work = Was bisher für { $name } getan wurde, wird verworfen. Die Originale bleiben.
    .download-now = Download abbrechen
    .work-now = Abbrechen
    .keep = Weitermachen

## Models to get

models-recommended = Empfohlen für { -here(case: "accusative") }
models-found-heading = Auf Hugging Face
models-list = Die Liste wird geladen.
    .empty = Die Liste der Modelle ist leer.
models-end-search = Zurück zu den empfohlenen Modellen
models-found = { $count ->
    [one] Ein Modell gefunden.
   *[other] { $count } Modelle gefunden.
}
    .searching = Suche läuft …
    .failed = Die Suche ist fehlgeschlagen.
    .none = Nichts gefunden, was mit Foretoken läuft.
    .advice = Versuche es mit weniger Wörtern oder Filtern oder gleich mit dem ganzen Namen in der Form Organisation/Name.
models-details = Details
models-offline = offline
models-here-already = schon da
models-search = Suchen
    .hub = Hugging Face durchsuchen
models-filter-mtp = Mit MTP-Kopf
models-filter-fitting = Läuft auf { -here(case: "dative") }
models-filter-format = Format
    .any = Jedes Format
    .published = Wie veröffentlicht
    .converted = Umgewandelt
    .bits = Umgewandelt, { $bits }-bit
models-filter-size = Größter Download
    .any = Jede Größe
    .up-to = Bis { $size } GB

## How one is got

models-conversion = Umwandlung
    .judged = Ob es passt, wird für 4-bit bewertet; diese Wahl braucht mehr Arbeitsspeicher.
models-afterwards = Nach dem Download
models-in-queue = In der Warteschlange: { $stage }
models-is-here = Das Modell ist schon da.
models-download = Laden
    .newer = Neuere Version laden
    .anyway = Trotzdem laden
    .starting = Der Download wird vorbereitet.
models-card = Modellkarte
    .heading = Was die Entwickler schreiben
    .fetching = Die Modellkarte wird geladen.
    .none = Es gibt keine Modellkarte.

## What goes wrong

models-dismiss = Ausblenden
models-access = Adresse kopieren
    .open = Öffne <address>{ $address }</address> im Browser und bitte um Zugriff.
    .token = Erstelle in deinem Hugging-Face-Konto ein Token mit Lesezugriff und hinterlege es hier.
    .again = Versuche es erneut, sobald du Zugriff hast.

## Storage, memory and access

models-place = Bibliotheksordner
    .space = { $used } Modelle, { $free } frei
    .away = Offline: Die Festplatte ist nicht angeschlossen
    .change = Ändern …
models-move = Modelle in <path>{ $path }</path> aufbewahren? Die { $used } aus der Bibliothek werden dorthin verschoben. Enthält der Ordner schon eine Bibliothek, wird diese verwendet.
    .away = Modelle in <path>{ $path }</path> aufbewahren? Die Modelle auf der nicht angeschlossenen Festplatte bleiben dort. Enthält der Ordner schon eine Bibliothek, wird diese verwendet.
    .preparing = Das Verschieben wird vorbereitet.
    .now = Diesen Ordner verwenden
    .leave = So lassen
models-another-place = Anderen Ordner verwenden …
models-disk-full = Die Festplatte ist fast voll: { $free } frei
    .hint = Downloads stehen still, bis wieder Platz ist. Lösche ein Modell und beende die App, gib anderswo Platz frei oder verlege die Bibliothek auf eine andere Festplatte.
models-smaller-memory = Weniger Arbeitsspeicher für lange Chats (8 Bit)
    .words = Was ein Chat im Arbeitsspeicher belegt, wächst nur etwa halb so schnell. Antworten können etwas anders ausfallen als mit voller Genauigkeit. Wenn du das änderst, wird das Modell neu geladen.
models-token = Hugging-Face-Token
    .set = Hinterlegt. Es liegt im Schlüsselbund des Systems.
    .not-set = Nicht hinterlegt. Nur Modelle mit beschränktem Zugriff brauchen eines.
    .remove = Entfernen
    .open-set = Token hinterlegen …
    .open-replace = Token ersetzen …
    .keeping = Das Token wird gesichert.
    .empty = Noch ist kein Token eingegeben.
    .note = Es kommt in den Schlüsselbund des Systems, wird nur an den Hub gesendet und nicht wieder angezeigt.
    .keep = Token sichern

## How the Hub is reached

models-hub-address = Adresse des Hub
    .note = Zum Beispiel die eines Spiegelservers. Dorthin gehen Suchen und Downloads und auch dein Token. Leer: die übliche.
    .from-variable = { $address }, aus HF_ENDPOINT
models-hub-proxy = Proxy
    .note = Suchen, Downloads und die Suche nach neuen Versionen laufen darüber. Leer: wie im System eingestellt.
    .system = Wie im System eingestellt
    .from-variable = Der aus der Variablen { $variable }
models-hub-cache = Hugging-Face-Cache
    .note = Modelle darin werden dort verwendet, wo sie liegen. Leer: dort, wo die Programme von Hugging Face ihn haben.
    .none = Keiner
models-hub-change = Ändern …
models-hub-keep = Diese Adresse verwenden
    .usual = Die übliche verwenden
    .keeping = Wird gesichert.
    .same = Nichts wurde geändert.
models-hub-keep-folder = Diesen Ordner verwenden
    .usual = Den üblichen verwenden

models-note-tied-head = Die Dateien enthalten einen Ausgabekopf, den das Modell nicht benutzt. Er wird weggelassen.
models-note-no-part = { $file } gehört nicht zum Modell und wird weggelassen.
models-note-undeclared = Die Konfiguration sagt nichts über Quantisierung; die Tensoren sagen { $format }.
models-note-draft-vocabulary = Entwürfe werden aus allen Tokens gewählt: { $file } ist nicht benutzbar.
models-note-head-unused = Sein MTP-Kopf wird nicht benutzt: { $reason }
models-note-head-missing = Der MTP-Kopf, den die Konfiguration nennt, { $file }, fehlt.
models-note-second-head = Es gibt schon einen MTP-Kopf, deshalb wird { $file } weggelassen.
    .main = Die Hauptdateien enthalten schon einen MTP-Kopf, deshalb wird { $file } weggelassen.
models-note-head-file-unused = Der MTP-Kopf in { $file } wird nicht benutzt: { $reason }
models-note-head-norms = Wie die Normen seines MTP-Kopfs gespeichert sind, zeigen ihre Werte.
models-note-head-undeclared = Die Konfiguration nennt den MTP-Kopf in den Dateien nicht. Er wird benutzt.
models-note-head-stripped = Die Konfiguration nennt einen MTP-Kopf, den eine Konvertierung entfernt hat; deshalb schreibt das Modell ein Token pro Durchlauf. Konvertiere das ursprüngliche Repository noch einmal, um ihn zurückzubekommen.
models-note-draft-target = Sein Entwurfsmodell ist für ein Modell mit { $told } Schichten gemacht; dieses hat { $layers }.
