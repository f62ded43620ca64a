### Made by a machine; no native speaker has read it yet.

-here = { $case ->
   *[nominative] { PLATFORM() ->
        [mac] dieser Mac
       *[other] dieser Computer
    }
    [genitive] { PLATFORM() ->
        [mac] dieses Mac
       *[other] dieses Computers
    }
    [dative] { PLATFORM() ->
        [mac] diesem Mac
       *[other] diesem Computer
    }
    [accusative] { PLATFORM() ->
        [mac] diesen Mac
       *[other] diesen Computer
    }
}

## Numbers with their units

word-percent = { $share }{ "\u00A0" }%
word-minutes-seconds = { $minutes } min { $seconds } s
word-seconds = { $seconds } s
word-milliseconds = { $milliseconds } ms
word-parameters = { $count } Parameter

## Days

word-weekday = { DATETIME($date, weekday: "short") }
word-day = { DATETIME($date, day: "numeric", month: "short") }
word-day-and-year = { DATETIME($date, day: "numeric", month: "short", year: "numeric") }
word-month = { DATETIME($date, month: "long") }
word-month-and-year = { DATETIME($date, month: "long", year: "numeric") }
word-today = Heute
word-yesterday = Gestern
word-last-seven-days = Letzte 7 Tage

## What stands between facts in a row, and between sentences

word-comma = { ", " }
word-gap = { " " }

## Speed and drafts

word-per-pass = { $tokens } pro Durchgang
word-no-drafts = keine Entwürfe
word-accepted = { $share } angenommen
word-gain = { $factor }× so schnell
word-what-drafts-are = Entwürfe sind Wörter, die das Modell vorausrät. Danach prüft es alle in einem Durchgang und behält die richtigen. Ein falscher Entwurf kostet ein wenig Zeit und macht die Antwort nie schlechter.
word-drafts-made = Entwürfe: { $makers }
word-drafts-by-head = { $count } vom MTP-Kopf
word-drafts-by-dflash = { $count } von DFlash
word-drafts-from-text = { $count } aus dem Text

word-drafting-auto = Auto
word-drafting-off = Aus
word-drafting-look-up = Nachschlagen
word-drafting-dflash = DFlash, { $depth }
word-drafts-off = von dir
    .why = Entwürfe sind aus, weil du sie ausgeschaltet hast.
word-drafts-not-paying = lohnt sich hier nicht
word-no-draft-model = kein Entwurfsmodell
    .why = Mit diesem Modell ist kein Entwurfsmodell geladen.
word-head-absent = kein MTP-Kopf
    .why = Dieses Modell hat keinen MTP-Kopf.
    .about = Kein MTP-Kopf.
word-head-stripped = Kopf entfernt
    .why = Der MTP-Kopf wurde entfernt, als diese Kopie des Modells umgewandelt wurde.
    .about = Der MTP-Kopf wurde entfernt, als diese Kopie umgewandelt wurde.
word-head-unusable = Kopf unbrauchbar
    .why = Der MTP-Kopf dieses Modells kann nicht verwendet werden; was ihm fehlt, steht in der Modellauswahl.
    .about = Ein MTP-Kopf ist vorhanden, kann aber nicht verwendet werden.
word-guesses-head = „Auto“ rät mit dem MTP-Kopf voraus.
word-guesses-text = „Auto“ und „Nachschlagen“ raten aus dem bisherigen Text voraus.
word-guesses-text-alone = Seine Entwürfe stammen allein aus dem bisherigen Text.
word-guesses-draft-model = „Auto“ und „DFlash“ raten mit seinem Entwurfsmodell voraus.
word-guesses-of-model = Entwürfe stammen allein aus dem bisherigen Text.
    .drafted = Entwürfe stammen von seinem Entwurfsmodell oder aus dem bisherigen Text.
word-mtp-head = MTP-Kopf: { $tensors } Tensoren, { $format }
word-draft-model = Entwurfsmodell: { $name }, rät bis zu { $most } Token voraus, { $size }

word-note-switched-off = Entwürfe waren ausgeschaltet.
word-note-no-draft-model = Mit diesem Modell ist kein Entwurfsmodell geladen.
word-note-no-head = Dieses Modell hat keinen MTP-Kopf, der Entwürfe machen könnte.
word-note-lookup-little = Von der Antwort stand wenig schon vorher im Text.
word-note-lookup-unpaid = Von der Antwort stand vieles schon vorher im Text, aber es als Entwurf zu nehmen, lohnte sich nicht.
word-note-unpaid =
    Entwürfe lohnen sich hier nicht: Mit { $drafts ->
        [1] einem Entwurf
       *[other] { $drafts } Entwürfen
    } dauert ein Durchgang { $longer }-mal so lange wie ohne und bringt { $more }-mal so viele Token.
word-note-others-righter = Entwürfe wurden zurückgehalten: Die der gleichzeitigen Antworten sind öfter richtig.
word-note-others-slower = Entwürfe wurden zurückgehalten: Sie würden die gleichzeitigen Antworten verlangsamen.

## How tokens are drawn

word-greedy = greedy
word-temperature = Temperatur { $temperature }

## Controls

word-copied = Kopiert
word-not-copied = Kopieren nicht möglich
word-number-needed = Hier wird eine Zahl benötigt.
word-no-number = „{ $text }“ ist keine Zahl.
word-whole-numbers = Nur ganze Zahlen.
word-at-least = Mindestens { $least }.
word-at-most = Höchstens { $most }.
word-close = Schließen
    .title = Schließen (Esc)
word-show-folder = { PLATFORM() ->
    [mac] Im Finder zeigen
   *[other] Im Ordner zeigen
}

## Names of keys

word-key-control = Strg
word-key-shift = Umschalt
word-key-page-up = Bild auf
word-key-page-down = Bild ab
