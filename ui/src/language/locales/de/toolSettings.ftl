### Made by a machine; no native speaker has read it yet.

settings-tools = Werkzeuge
    .note = Was ein Modell außer Schreiben noch verwenden darf. Alles ist aus, bis du es in einem Chat einschaltest: unter der Nachricht bei „Werkzeuge“.
settings-sure =
    .cancel = Abbrechen

## The app’s own

settings-built-in = Eingebaut
    .words = Rechnen und Datum arbeiten nur auf { -here(case: "dative") } und laufen ohne Nachfrage. Bevor ein anderes dieser Werkzeuge etwas liest, sendet oder ändert, wirst du gefragt.
settings-tool-calculator = Rechnen
    .words = Rechnet genau
settings-tool-date = Datum und Uhrzeit
    .words = Sagt, welcher Tag und wie spät es ist, und zählt Tage
settings-tool-pages = Webseiten
    .words = Liest Seiten, die alle erreichen können. Für jede Website wirst du gefragt
settings-tool-search = Websuche
    .words = Fragt den Suchdienst, den du in den Einstellungen angibst
settings-tool-read-files = Dateien lesen
    .words = Listet, liest und durchsucht Dateien in den Ordnern, die du wählst
settings-tool-write-files = Dateien ändern
    .words = Schreibt dort Textdateien. Jede Änderung wird vorher gezeigt, und du wirst gefragt
settings-own-tool =
    .read-page = Seite lesen
    .search-web = Im Web suchen
    .list-files = Dateien auflisten
    .read-file = Datei lesen
    .search-files = Dateien durchsuchen
    .write-file = Datei schreiben
    .edit-file = Datei ändern
settings-own-lack =
    .search = Es ist kein Suchdienst angegeben.
    .folder = Es ist noch kein Ordner gewählt.

## What the app’s own reach

settings-web = Web
    .words = Modelle suchen mit einem Dienst deiner Wahl, einem SearXNG: deinem eigenen oder einem, dem du vertraust.
    .search = Adresse des Suchdienstes
    .search-words = Wonach Modelle suchen, geht dorthin und sonst nirgendwohin. Leer heißt: keine Suche.
settings-folders = Dateien
    .words = Modelle lesen nur, was in diesen Ordnern ist. Jede Änderung wird dir vorher gezeigt, und du wirst gefragt.
    .none = Es ist noch kein Ordner gewählt.
    .add = Ordner hinzufügen …
    .remove = Entfernen
    .remove-label = Ordner { $name } entfernen

## Servers

settings-servers = Server
    .words = Programme und Adressen, die Werkzeuge anbieten (MCP). Bevor eines dieser Werkzeuge läuft, wirst du gefragt.
    .none = Es gibt noch keine.
    .add = Server hinzufügen
settings-server-state =
    .off = Aus
    .stopped = Läuft nicht. Ein Chat, der ihn verwendet, startet ihn
    .starting = Wird gestartet …
    .running =
        { $count ->
            [one] Läuft mit { $count } Werkzeug
           *[other] Läuft mit { $count } Werkzeugen
        }
    .failed = Fehlgeschlagen
    .signing-in = Wartet auf deinen Browser …
    .signed-in = angemeldet
settings-server-switch = { $name } verwenden
settings-server-busy = Einen Moment: Der letzte Schritt ist noch nicht fertig.
settings-server-start = Starten
settings-server-try = Erneut versuchen
settings-server-sign-in = Anmelden …
    .label = Bei { $name } anmelden
settings-server-give-up = Abbrechen
    .label = Die Anmeldung bei { $name } aufgeben
settings-server-sign-out = Abmelden
    .label = Von { $name } abmelden
settings-server-edit = Bearbeiten
    .label = { $name } bearbeiten
settings-server-remove = Entfernen …
    .label = { $name } entfernen
settings-server-remove-sheet = { $name } entfernen?
    .words = Was du ihm erlaubt hast, verfällt, und seine Werte im Schlüsselbund werden gelöscht.
    .sure = Entfernen
settings-server-fact =
    .command = Befehl
    .arguments = Argumente
    .program = Programm
    .not-found = Auf { -here(case: "dative") } nicht gefunden
    .address = Adresse
    .variables = Variablen
    .headers = Header
    .values-kept = Die Werte liegen im Schlüsselbund des Systems und werden nicht gezeigt
    .folder = Ordner
    .own-folder = Ein eigener
    .none = Keine
settings-server-tools = Werkzeuge
    .words = Was ein Server von seinen Werkzeugen sagt, hat niemand geprüft.
    .unknown = Nicht bekannt, bis er einmal gelaufen ist.
    .list = Werkzeuge von { $name }
settings-tool-claims =
    .reads = liest angeblich nur
    .destroys = kann löschen oder ersetzen
    .keeps = löscht und ersetzt angeblich nichts
    .changes = ändert nach eigener Angabe etwas
    .reaches = reicht über { -here(case: "accusative") } hinaus
    .stays = bleibt angeblich auf { -here(case: "dative") }
    .nothing = sagt nicht, was es tut
settings-server-lines = Seine letzten Zeilen
    .show = Die letzten Zeilen zeigen, die er geschrieben hat
    .again = Die letzten Zeilen neu lesen
    .none = Er hat nichts geschrieben.

## A server that is written down

settings-server-form =
    .name = Name
    .kind = Wie er erreicht wird
    .program = Programm
    .http = Adresse
    .command = Befehl
    .arguments = Argumente
    .arguments-words = Eines je Zeile, ohne Anführungszeichen
    .folder = Ordner
    .folder-placeholder = Ein eigener
    .address = Adresse
    .words = Er bleibt aus, bis du ihn einschaltest. Vorher zeigt dir das System vollständig, was er ausführt oder erreicht.
    .cancel = Abbrechen
    .add = Hinzufügen
    .save = Sichern
    .no-name = Der Server hat noch keinen Namen.
    .no-command = Es ist noch kein Programm angegeben.
    .no-address = Es gibt noch keine Adresse.
    .no-value-name = Ein Wert hat noch keinen Namen.
settings-server-values =
    .variables = Variablen
    .headers = Header
    .name = Name
    .value = Wert von { $name }
    .kept = bleibt, wie er ist
    .add-variable = Variable hinzufügen
    .add-header = Header hinzufügen
    .words = Werte kommen in den Schlüsselbund des Systems und werden nie wieder gezeigt.

## From other programs

settings-servers-import = Aus anderen Programmen übernehmen
    .words = Ihre Dateien werden nur gelesen, wenn du es sagst, und nie geändert.
    .from = Aus { $program } übernehmen
    .take = Übernehmen
    .take-text = Aus diesem Text übernehmen
    .text = Oder JSON einsetzen
    .added = Hinzugefügt, alle ausgeschaltet: { $names }.
    .none = Es wurde nichts hinzugefügt.
    .left-out = { $name } wurde ausgelassen. { $why }

## What is allowed

settings-permissions = Erlaubt
    .words = Was du für mehr als einen Aufruf erlaubt hast. Ein Werkzeug, das neu ist oder sich seitdem geändert hat, fragt wieder.
    .none = Nichts.
settings-permission =
    .one = { $tool } von { $server }
    .every = Alle Werkzeuge von { $server }
    .chat = Im Chat „{ $chat }“, seit { $date }
    .untitled = In einem Chat, seit { $date }
    .everywhere = In allen Chats, seit { $date }
    .revoke = Zurücknehmen
    .revoke-label = Zurücknehmen: { $what }
settings-stop-tools = Alle Werkzeuge stoppen
    .words = Beendet laufende Aufrufe, stoppt alle Server und nimmt alles zurück, was du erlaubt hast
    .ask = Alle stoppen …
settings-stop-tools-sheet = Alle Werkzeuge stoppen?
    .words = Laufende Aufrufe werden beendet; was sie gerade tun wollten, kann geschehen sein oder nicht. Alle Server werden gestoppt, und alles, was du erlaubt hast, wird zurückgenommen.
