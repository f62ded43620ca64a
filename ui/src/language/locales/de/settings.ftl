### Made by a machine; no native speaker has read it yet.

settings-window = Einstellungen
settings-page =
    .general = Allgemein
    .appearance = Erscheinungsbild
    .replies = Antworten
    .models = Modelle und Speicher
    .local-api = Lokale API
    .data = Datenschutz und Daten
    .keyboard = Tastatur
    .diagnostics = Diagnose
    .notices = Lizenzen Dritter

## General

settings-language = Sprache
    .words = Deutsch ist maschinell übersetzt und noch von keinem Muttersprachler gelesen
    .system = Wie das System
settings-notifications = Mitteilungen
    .words = Meldet lange Antworten, Downloads und Umwandlungen, die fertig werden, während du woanders bist
settings-keep-running = Weiterlaufen, wenn das Fenster geschlossen wird
    .words =
        { PLATFORM() ->
            [mac] Antworten und Downloads gehen weiter. Ein Klick im Dock holt das Fenster zurück
           *[other] Antworten und Downloads gehen weiter. Ein erneuter Start von Foretoken holt das Fenster zurück
        }
settings-quick = Schnellfrage
settings-quick-key = Tasten, um aus jedem Programm zu fragen
    .words = Sie öffnen ein kleines Fenster über dem, was du gerade tust. Es verschwindet, wenn du dich anderem zuwendest, und seine Antwort wird zu Ende geschrieben
settings-menu-bar = In der Menüleiste zeigen
    .words = Was das Modell tut und wie schnell, aus jedem Programm zu sehen
settings-updates = Updates
settings-update-check = Nach neuen Versionen suchen
    .words = Fragt den Server, der sie bereithält, welche die neueste ist. Bevor eine installiert wird, wirst du gefragt
    .each-start = Bei jedem Start
    .weekly = Wöchentlich
    .never = Nie
settings-new-versions = Neue Versionen
    .look = Jetzt suchen
    .show = Zeigen …
    .unchecked = Noch nicht gesucht
    .newest = Du hast die neueste Version (Stand { $date })
    .checking = Wird gesucht …
    .found = Foretoken { $version } ist da

## Appearance

settings-light = Hell oder dunkel
    .words = „Auto“ richtet sich nach dem System
    .auto = Auto
    .light = Hell
    .dark = Dunkel
settings-size = Größe
    .words = Text und alles darum herum. { $larger } und { $smaller } tun dasselbe
    .value = { $zoom } Prozent
settings-width = Breite des Textes
    .words = In einem breiten Fenster
    .column = Spalte
    .wide = Breit
settings-guessed = Vorausgeratene Wörter
settings-sample = Die<one> Laternen</one><two> am</two><three> Kai</three> gingen<one> eine</one><two> nach</two><three> der</three> anderen an,<one> und</one><two> das</two><three> letzte</three> Boot fuhr <one>heim</one><two>.</two>
    .one = 1 voraus
    .two = 2 voraus
    .three = 3 oder mehr voraus
settings-wake = Einfärben, während eine Antwort geschrieben wird
    .words = Die neuesten Zeilen; die Farbe verblasst beim Lesen
settings-reveal = Farbe in allen Antworten behalten
    .words = { $keys } blendet sie jederzeit ein und aus
settings-hue = Farbe
    .words = Für alles, was vorausgeraten wurde
    .label = Farbe für Vorausgeratenes
    .violet = Violett
    .teal = Petrol
    .orange = Orange
    .pink = Rosa
settings-pulse = Puls neben den Zahlen
    .words = Eine Säule für jeden Durchgang des Modells

## Replies

settings-replies-note = Das gilt in neuen Chats und in allen anderen, die keine eigenen Einstellungen haben.
settings-mtp =
    .words = Wie viele Token das Modell vorausrät. „Auto“ tut, was sich lohnt
    .label = Entwürfe pro Durchgang
settings-thinking = Denken
    .words = Wie viel ein Modell, das es kann, vor dem Antworten nachdenken darf.
settings-standing = Was jeder Chat wissen soll
    .words = Steht ab deiner nächsten Nachricht vor dem eigenen System-Prompt jedes Chats. Ein Chat kann darauf verzichten: unter „Dieser Chat“ im Infobereich.
    .example = Zum Beispiel: Ich backe mit Roggen. Metrische Einheiten. Kurze Antworten.
settings-sampling = Wortwahl
    .words = Sampling. Jedes Modell merkt sich sein eigenes.

## Models and memory

settings-hub-token = Hugging-Face-Token
    .set = Hinterlegt. Es liegt im Schlüsselbund des Systems
    .unset = Nicht hinterlegt. Nur Modelle mit beschränktem Zugriff brauchen eines
settings-unload = Arbeitsspeicher des Modells freigeben
    .words = Wenn eine Weile niemand gefragt hat. Die nächste Frage lädt das Modell wieder, was so lange dauert wie beim Start
    .never = Nie
    .after =
        { $minutes ->
            [one] Nach einer Minute
           *[other] Nach { $minutes } Minuten
        }
settings-earlier-turns = Frühere Nachrichten
    .words = Was von einem Chat gelesen wurde, bleibt in Arbeitsspeicher, den sonst niemand braucht, und wird freigegeben, wenn er knapp wird. Hier gibt es nichts einzustellen

## Local API

settings-api = Andere Programme auf { -here(case: "dative") } das Modell verwenden lassen
    .words-on = Funktioniert wie die APIs von OpenAI und Anthropic. Foretoken läuft weiter, wenn sein Fenster geschlossen wird
    .words-off = Funktioniert wie die APIs von OpenAI und Anthropic. Aus, bis du sie einschaltest
settings-api-state =
    .off = Aus
    .starting = Wird gestartet …
    .on = Aktiv unter { $address }
    .port-taken = Ein anderes Programm verwendet Port { $port } bereits
    .port-taken-by = { $name } (Prozess { $pid }) verwendet Port { $port } bereits
    .take-port = Port { $port } verwenden
    .requests =
        { $count ->
            [one] { $count } Anfrage
           *[other] { $count } Anfragen
        }
    .rate = { $rate } tok/s
settings-address = Adresse
    .words = Programme für die API von Anthropic lassen /v1 weg
    .copy = Adresse kopieren
settings-network-address = Von anderen Geräten
    .words = Sie müssen das Token senden. Unterwegs ist nichts verschlüsselt
    .copy = Adresse für andere Geräte kopieren
settings-copy = Kopieren
    .done = Kopiert
settings-api-token = Token
    .in-file = In einer Datei, die nur du lesen kannst
    .in-keychain = Im Schlüsselbund des Systems
    .hidden = verborgen
    .copy = Token kopieren
    .renew = Neu
    .renew-label = Neues Token erzeugen
settings-renew-token = Neues Token erzeugen?
    .words = Das bisherige funktioniert dann nicht mehr, und laufende Anfragen enden
    .keep = Behalten
    .sure = Neu erzeugen
settings-snippets = Zum Einsetzen bereit
    .program = Programm
    .copy = Für { $program } kopieren
    .text = Text für { $program }
    .note = Cursor lässt sich nicht verwenden: Dort fragen die Server des Herstellers an, und die erreichen { -here(case: "accusative") } nicht.
    .note-token = Das Token wird beim Kopieren eingesetzt. { settings-snippets.note }
settings-snippet-name =
    .python = { $library } für Python
    .node = { $library } für Node
settings-snippet-place =
    .terminal = In einem Terminal
    .own-terminal = In dem Terminal, in dem es gestartet wird
    .codex = In ~/.codex/config.toml; das Token gehört in die Variable FORETOKEN_TOKEN
    .zed = In settings.json; nach dem Token fragt Zed in seinen eigenen Einstellungen
    .continue = In ~/.continue/config.yaml

settings-requests = Anfragen
    .now = { $count } jetzt
    .last = Letzte { $count } zeigen
    .all = Alle { $count } zeigen
    .none = Seit dem Start von Foretoken hat niemand angefragt.
    .table = Anfragen anderer Programme
settings-requests-column =
    .time = Zeit
    .from = Von
    .stage = Stand
    .rate = tok/s
    .accepted = angenommen
    .accepted-of = Anteil der vorausgeratenen Token
    .stop = Stoppen
settings-request =
    .now = jetzt
    .waiting = wartet
    .reading = liest { $percent }
    .writing = schreibt
    .tokens = { $count } Token
    .stop = Stoppen
    .stop-one = Anfrage von { $program } stoppen
    .done = fertig
    .stopped = gestoppt
    .left = Verbindung getrennt
    .refused = abgelehnt: { $reason }
settings-refusal =
    .too-long = der Prompt ist zu lang
    .queue = zu viele andere warten
    .engine = die Engine wurde beendet
    .no-model = es ist kein Modell geladen
    .memory = nicht genug Arbeitsspeicher
    .tools = das Modell ruft keine Werkzeuge auf
    .template = die Vorlage des Modells lehnt es ab

settings-more = Mehr
settings-port = Port
    .same = Das ist schon der Port.
    .range = Ein Port ist eine Zahl von 1024 bis 65535.
    .use = Diesen Port verwenden
settings-needs-token = Token von Programmen verlangen
    .words = Sonst kann jedes Programm auf { -here(case: "dative") } das Modell verwenden. Seiten in einem Browser können es nicht
settings-network = Andere Geräte in diesem Netzwerk
    .words = Telefone und Computer, die das Token haben, können das Modell verwenden. Was sie senden, ist nicht verschlüsselt. Daran, wie bald eine Antwort beginnt und wie viele Token im Cache lagen, können sie erkennen, ob { -here } einen Prompt schon einmal gelesen hat, auch in deinen Chats. Verhindern lässt sich das nur, indem du dies ausgeschaltet lässt
settings-may-load = Programme Modelle laden lassen
    .words = Solange das Fenster geschlossen ist. Kommst du zurück, wird dein Modell wieder geladen
settings-rows = Antworten zur selben Zeit
    .words = Weitere Anfragen warten. Neben anderen ist jede Antwort langsamer, alle zusammen sind schneller
settings-api-sampling = Sampling
    .words = Wenn ein Programm nichts von Temperatur und Ähnlichem sagt
    .app = Wie in der App gewählt
    .model = Wie vom Hersteller des Modells empfohlen
settings-origins = Seiten, die sich verbinden dürfen
    .words = Seiten in einem Browser und Apps, die aus Seiten bestehen, können das Modell nur verwenden, wenn sie hier stehen
    .add = Ursprung (Origin) einer Seite
settings-aliases = Namen
    .words = Programme, die nach diesen Namen fragen, bekommen ein Modell, das hier ist. Ein Name, der auf * endet, steht für alle, die so beginnen
    .model = Modell für { $name }
    .loaded = das geladene Modell
    .add = Ein Name, nach dem Programme fragen
    .taken = Ein Modell heißt schon so.
settings-list =
    .add = Hinzufügen
    .empty = Es ist nichts eingegeben.
    .there = Das steht schon da.
    .remove = Entfernen
    .remove-one = { $what } entfernen

## Privacy and data

settings-data-note = Alles bleibt auf { -here(case: "dative") }. Nur Suchen nach Modellen und ihre Downloads gehen an Hugging Face.
    .updates = Alles bleibt auf { -here(case: "dative") }. Nur Suchen nach Modellen und ihre Downloads gehen an Hugging Face, und die Suche nach neuen Versionen geht dorthin, wo sie veröffentlicht werden.
settings-all-chats = Alle Chats
    .words = Eine JSON-Datei enthält alles und lässt sich wieder importieren
    .import = Importieren …
    .export = Exportieren …
settings-keep-read = Behalten, was Modelle von Chats gelesen haben
    .words = Ein Chat geht nach einem Neustart sofort weiter. Das belegt bis zu 10 GB auf { -here(case: "dative") } und wird mit dem Chat gelöscht; beim Ausschalten wird alles davon entfernt
settings-files = Dateien
    .reveal = { word-show-folder }: { $place }
settings-place-settings = Einstellungen
    .words = Was du gewählt hast
settings-place-chats = Chats
    .words = Chats, ihre ungesendeten Texte und ihre täglichen Kopien
settings-place-models = Modelle
    .words = Modelle, die geladen oder umgewandelt wurden
settings-place-cache = Cache
    .words = Was sich neu erzeugen lässt; es kann jederzeit gelöscht werden
settings-place-log = Protokoll
    .words = Was die App und die Engine melden, von diesem Start und dem vorigen
settings-leaving = Daten entfernen
settings-remove = Alles entfernen, was Foretoken gespeichert hat
    .words = Chats, Einstellungen, Caches und Modelle. Danach wird Foretoken beendet
    .sizes = { $size } an Chats, Einstellungen und Caches und { $models } an Modellen. Danach wird Foretoken beendet
    .ask = Entfernen …
settings-remove-sheet = Alles entfernen?
    .words = Chats mit ihren Kopien, Einstellungen, was Modelle gelesen haben, Messungen, das Protokoll und die Token im Schlüsselbund werden endgültig gelöscht. Exportiere zuerst deine Chats, wenn du sie vielleicht wieder brauchst.
    .models = Auch die Modelle entfernen ({ $size } in { $folder })
    .cancel = Abbrechen
    .remove = Entfernen und beenden
    .remove-all = Alles samt Modellen entfernen und beenden

## Diagnostics

settings-log = Protokoll
    .copy = Protokoll kopieren
    .note = Bericht und Protokoll enthalten nichts aus Chats.
    .empty = Es gibt nichts zu zeigen.
settings-log-level =
    .label = Gezeigte Zeilen
    .error = Fehler
    .warn = Fehler und Warnungen
    .info = Alles Wichtige
    .debug = Alles
settings-report =
    .copy = Bericht kopieren
    .unready = Der Bericht ist noch nicht fertig.
settings-crashes = Abstürze
    .words = Dein System hat Berichte darüber geschrieben. Sie werden nirgendwohin gesendet; der neueste wird hier im Bericht genannt

## Third-party notices

settings-notices-note = Foretoken enthält, was andere geschaffen haben, unter diesen Lizenzen.
settings-bill = Stückliste
    .words = Dasselbe als Liste für Programme, in CycloneDX, mit Versionen und Prüfsummen
settings-licence = Lizenz
    .of = Lizenz von { $name }
    .text = Lizenztext von { $name }
