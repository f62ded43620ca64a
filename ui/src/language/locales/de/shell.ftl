### Made by a machine; no native speaker has read it yet.

menu-file = Ablage
menu-edit = Bearbeiten
menu-view = Darstellung
menu-chat = Chat
menu-window = Fenster
menu-help = Hilfe
menu-about = Über Foretoken
menu-services = Dienste
menu-hide = Foretoken ausblenden
menu-hide-others = Andere ausblenden
menu-show-all = Alle einblenden
menu-undo = Widerrufen
menu-redo = Wiederholen
menu-cut = Ausschneiden
menu-copy = Kopieren
menu-paste = Einsetzen
menu-select-all = Alles auswählen
menu-full-screen = Vollbild
menu-minimize = Im Dock ablegen
menu-zoom = Zoomen
menu-bring-all-to-front = Alle nach vorne bringen

bar-open = Foretoken öffnen
bar-writing = { $model }: { $speed } tok/s
bar-ready = { $model } ist bereit
bar-given-back = { $model }: Arbeitsspeicher freigegeben
bar-loading = Ein Modell wird geladen
bar-starting = Startet
bar-failed = Kein Modell kann antworten

window-settings = Einstellungen
window-progress = Foretoken, { $percent } %

quit-temporary = Ein temporärer Chat ist offen
    .message = Nichts davon bleibt, wenn Foretoken beendet wird. „Diesen Chat behalten“ in seinem Menü sichert ihn.
quit-summary = Eine Zusammenfassung wird noch geschrieben
    .message = Sie geht verloren. Der Chat bleibt, wie er war, und kann erneut zusammengefasst werden.
quit-reply = Eine Antwort wird noch geschrieben
    .message = Was bisher geschrieben ist, bleibt erhalten und kann beim nächsten Start fortgesetzt werden.
quit-request = Ein anderes Programm benutzt das Modell
    .message = Was es angefragt hat, endet mit Foretoken.
quit-sure = Beenden
quit-not = Nicht beenden

told-reply-ended = Die Antwort ist fertig.
told-reply-stopped = Die Antwort wurde abgebrochen.
told-reply-asks = Die Antwort wartet auf dich.
told-benchmark = { $name } ist gemessen
    .message = Unter „Benchmarks“ steht, wie schnell es ist.
told-probe = { $name } ist gemessen
    .message = Wähle eine Größe für die Umwandlung.
told-comparison = { $name } ist mit dem Original verglichen
    .message = In den Details steht, wie nah es ihm kommt.
told-move = Die Modellbibliothek ist umgezogen
    .message = Sie liegt jetzt in { $path }.
told-ready = { $name } ist bereit
    .message = Du kannst es jetzt benutzen.
told-failed = { $name } wurde abgebrochen
told-going-on = Foretoken läuft weiter
    .message = { PLATFORM() ->
        [mac] Andere Programme können das Modell benutzen, solange die lokale API an ist. Beende Foretoken im Dock oder mit ⌘Q.
       *[other] Andere Programme können das Modell benutzen, solange die lokale API an ist. Öffne Foretoken erneut, um das Fenster zurückzuholen.
    }

dialog-attach-files = Dateien anhängen
dialog-attach-pictures = Bilder anhängen
    .kind = Bilder
dialog-export = Exportieren
dialog-export-benchmarks = Benchmarks exportieren
    .file = Foretoken-Benchmarks
dialog-export-prompts = Prompts exportieren
    .file = Foretoken-Prompts
dialog-import-chats = Chats importieren
    .kind = Chats
dialog-import-prompts = Prompts importieren
    .kind = Prompts
dialog-library-folder = Ordner für die Modellbibliothek wählen
dialog-model-folder = Modellordner öffnen
dialog-project-files = Dateien zum Projekt hinzufügen
dialog-project-folder = Ordner für das Projekt wählen
dialog-tool-folder = Ordner wählen, dessen Dateien Modelle bekommen dürfen
dialog-save-picture = Bild sichern
dialog-measure-text = Text für die Messung wählen

tool-server = „{ $name }“ einschalten?
    .program = Dieses Programm läuft mit allen deinen Rechten auf diesem Rechner, sobald ein Chat es verwendet:
    .arguments = Argumente:
    .variables = Umgebungsvariablen:
    .folder = Ordner:
    .address = Was Modelle für seine Werkzeuge schreiben, geht an diese Adresse:
    .headers = Header:
    .agree = Einschalten
    .disagree = Ausgeschaltet lassen

tool-sign-in = Bei „{ $name }“ anmelden?
    .address = Dein Browser öffnet diese Seite. Was der Server gewährt, bleibt im Schlüsselbund des Systems.
    .tokens = Was der Browser zurückbringt, geht an:
    .lang = de
    .agree = Browser öffnen
    .disagree = Nicht jetzt
    .done = Du bist angemeldet. Du kannst dieses Fenster schließen und zu Foretoken zurückkehren.
    .not-done = Die Anmeldung ist nicht gelungen. Foretoken sagt, warum.

chat-temporary = Temporärer Chat
chat-file = Chat
project-new = Neues Projekt

job-measured = Wähle im Menü des Modells unter „Umwandeln …“ eine Größe.
job-compared = In den Details des Modells steht, wie nah es seinem Original kommt.
job-source-stays = Das Original wird benutzt und wurde behalten. Lösche es unten, wenn du es nicht mehr brauchst.
job-name-taken = Nicht umgewandelt: Ein Modell dieses Namens entsteht gerade aus einem anderen.

summary-converted-with-head = Von anderen umgewandelt, mit MTP-Kopf
summary-converted-without-head = Von anderen umgewandelt, ohne MTP-Kopf
summary-experts = Weiß so viel wie ein großes Modell, antwortet so schnell wie ein kleines
summary-small = Kurze Fragen, Zusammenfassungen, kleine Aufgaben
summary-middle = Alltagsfragen und Schreiben
summary-large = Die sorgfältigsten Antworten, dafür langsamer

folder-first-files = Nur die ersten { $count } Dateien des Ordners werden gelesen.
folder-closed = { $others ->
    [0] { $path } lässt sich nicht öffnen. Was dort schon gelesen wurde, bleibt erhalten.
    [one] { $path } und ein weiterer Ordner lassen sich nicht öffnen. Was dort schon gelesen wurde, bleibt erhalten.
   *[other] { $path } und { $others } weitere Ordner lassen sich nicht öffnen. Was dort schon gelesen wurde, bleibt erhalten.
}
