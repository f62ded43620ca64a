### Made by a machine; no native speaker has read it yet.

## What is heard

call-announce = Foretoken fragt, ob ein Werkzeug laufen darf.
    .paused = Die Antwort ruht. Setze sie fort oder beende sie.

## A call, in a line

call-state =
    .checking = Wird geprüft
    .refused = Nicht ausgeführt
    .asking = Wartet auf deine Antwort
    .allowed = Erlaubt, wartet auf deine anderen Antworten
    .denied = Von dir abgelehnt
    .failed = Fehlgeschlagen
    .stopped = Gestoppt
    .timed-out = Dauerte zu lange
    .unknown = Nicht bekannt
call-unknown = Die App wurde beendet, während das lief. Vielleicht ist es geschehen, vielleicht nicht.
call-runs = Läuft …
    .seconds = Läuft … { $seconds } s
call-written = Wird geschrieben …
call-works = Ein Werkzeug läuft …
call-steps = { $count ->
    [one] { $count } Schritt
   *[other] { $count } Schritte
}

## All of a call

call-decision =
    .once = Du hast das einmal erlaubt.
    .chat = Du hast dieses Werkzeug in diesem Chat erlaubt.
    .always = Du hast dieses Werkzeug überall erlaubt.
    .own = Dieses Werkzeug läuft ohne Nachfrage.
call-arguments = Argumente
    .none = Es gibt keine Argumente.
    .changed = Argumente, wie du sie geändert hast
    .written = Argumente, wie das Modell sie geschrieben hat
call-result = Ergebnis
    .none = Das Werkzeug hat nichts geliefert.
    .model = Was das Modell bekommen hat
    .left-out = { $tokens ->
        [one] { $tokens } Token wurde weggelassen.
       *[other] { $tokens } Token wurden weggelassen.
    }
    .picture = Ein Bild, das nicht gezeigt wird ({ $kind })
    .picture-name = Bild vom Werkzeug
    .unread = Das Ergebnis lässt sich nicht zeigen: { $why }

## The question before a call runs

call-question = Foretoken fragt: Darf <strong>{ $tool }</strong> von <strong>{ $server }</strong> laufen?
    .own = Foretoken fragt: Darf <strong>{ $tool }</strong> laufen?
    .plain = Foretoken fragt: Darf { $tool } von { $server } laufen?
    .own-plain = Foretoken fragt: Darf { $tool } laufen?
    .shown = { $count ->
        [one] Das Argument ist ganz zu sehen. Nichts ist darin verborgen.
       *[other] Alle { $count } Argumente sind ganz zu sehen. Nichts ist darin verborgen.
    }
    .shown-all = Alles ist zu sehen. Nichts ist verborgen.
    .hidden = { $count ->
        [one] { $count } Zeichen wäre nicht zu sehen. Es steht als ⟨U+…⟩ da.
       *[other] { $count } Zeichen wären nicht zu sehen. Sie stehen als ⟨U+…⟩ da.
    }
    .edit = Ändern
    .json = Argumente als JSON
    .editing = Das Werkzeug bekommt stattdessen dies.
    .leave = So lassen, wie sie waren
    .no-object = Das ist noch kein JSON-Objekt.
    .unseen = Die Änderung ist noch nicht zu sehen.
    .allow = Einmal erlauben
    .deny = Ablehnen
    .deny-why = Ablehnen und sagen, warum …
    .why = Was dem Modell gesagt wird, dann Enter
    .longer = Immer
    .longer-label = Immer erlauben
    .in-chat = Dieses Werkzeug, in diesem Chat
    .always = Dieses Werkzeug, wie es jetzt ist, überall
    .files-in-chat = Dieses Werkzeug in allen gewählten Ordnern, in diesem Chat
    .files-always = Dieses Werkzeug in allen gewählten Ordnern, überall
    .pages-in-chat = Seiten von { $host }, in diesem Chat
    .pages-always = Seiten von { $host }, überall
    .server = Alle Werkzeuge von { $server } in diesem Chat, außer denen, die löschen können
    .leak = Dieser Chat hat gelesen, was nur dir gehört und was Fremde geschrieben haben, und hier wird etwas nach außen gesendet. Sieh genau hin, was auch immer du vorher erlaubt hast.
    .sent = Deine Antwort ist unterwegs.
call-origin =
    .program = Läuft auf { -here(case: "dative") }:
    .address = Sendet an:
    .claims = Dieses Werkzeug { $claims }. Das hat niemand geprüft.
    .gone = Dieser Server ist nicht mehr eingerichtet.
    .folder = Ordner:
    .no-folder = Einen Ordner dieses Namens hast du nicht gewählt.
    .no-address = Es gibt keine Adresse, an die gesendet werden könnte.
call-change =
    .creates = Legt <code>{ $path }</code> an
    .changes = Ändert <code>{ $path }</code>
    .waits = Es wird nachgesehen, was das ändern würde …
    .again = Erneut versuchen
    .none = Der Text bliebe, wie er ist.
    .line = Ab Zeile { $line }
    .no-end = Kein Zeilenumbruch am Ende

## A reply that rests

call-waits = Wartet auf dich. Das Modell macht von hier aus weiter.
call-paused = { $count ->
    [one] { $count } Runde lang Werkzeuge verwendet.
   *[other] { $count } Runden lang Werkzeuge verwendet.
}
    .go-on = Weitermachen
    .stop = Beenden
call-rests = Beantworte zuerst die Frage oben.
    .paused = Wähle oben zuerst Weitermachen oder Beenden.

## Which tools a chat may use

call-tools = Werkzeuge
    .title = Werkzeuge in diesem Chat
    .servers = Server
    .no-servers = Es ist kein Server eingeschaltet.
    .untaught = Dieses Modell hat nicht gelernt, Werkzeuge zu verwenden.
    .anew = Andere Werkzeuge als bisher: Mit deiner nächsten Nachricht wird der ganze Chat neu gelesen.
    .cost = { $tokens ->
        [one] Die gewählten Werkzeuge brauchen { $tokens } Token dieses Chats.
       *[other] Die gewählten Werkzeuge brauchen { $tokens } Token dieses Chats.
    }
    .settings = Einstellungen …
    .gone = Nicht mehr eingerichtet
    .off = In den Einstellungen ausgeschaltet
    .count = { $count ->
        [one] { $state } · { $count } Werkzeug
       *[other] { $state } · { $count } Werkzeuge
    }

## How it was made

call-rounds = Runden
    .one = Runde { $number }
    .why = Antworten, die Werkzeuge verwenden, werden nicht mit einfachen verglichen.
