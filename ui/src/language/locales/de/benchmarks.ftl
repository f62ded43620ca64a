### Made by a machine; no native speaker has read it yet.

benchmarks-title = Benchmarks
benchmarks-export = Alle Benchmarks exportieren
    .as = Als { $format } exportieren …
    .none = Es gibt noch keine.
    .done = Exportiert nach { $path }

## The ways to write, and the kinds of text

benchmarks-way =
    .plain = Ohne Entwürfe
    .ahead = { $depth } voraus
benchmarks-prose = Prosa
    .words = eine Geschichte, ein Brief, eine Erklärung
benchmarks-code = Code
    .words = eine Funktion, ein Test, eine Änderung an einer Datei
benchmarks-any = Alle Texte
    .words = Prosa und Code wurden nicht unterschieden

## What is measured

benchmarks-measure = Messen
    .no-model = Es ist kein Modell da.
    .gone = { $name } ist nicht mehr da.
benchmarks-minutes = { $minutes ->
    [0] weniger als eine Minute
    [one] etwa eine Minute
   *[other] etwa { $minutes } Minuten
}
benchmarks-plan = Was gemessen wird
    .texts = Was geschrieben wird
    .both = Prosa und Code
    .ahead = Vorausraten
    .ways = Ohne Entwürfe im Vergleich mit { $head ->
        [yes] 1, 2 und 3 voraus,{ " " }
       *[no] { "" }
    }{ $dflash ->
        [yes] DFlash,{ " " }
       *[no] { "" }
    }Nachschlagen und Auto
    .prompt = Ein langer Prompt
    .prompt-words = Wie schnell er gelesen wird und wie viel Arbeitsspeicher er braucht
    .effort = Wie lange es dauert
    .quick = Schnell
    .thorough = Gründlich
    .note = { $runs ->
        [one] Ein Lauf
       *[other] { $runs } Läufe
    } mit je { $tokens } Token für jedes Verfahren{ $texts ->
        [both] , für Prosa und für Code
       *[other] { "" }
    }. Gemessen wird nur, solange keine Antwort geschrieben wird: Der Chat hat Vorrang.
benchmarks-running = Wird gemessen
benchmarks-model = Modell
    .none = Kein Modell
    .choose = Modell, das gemessen wird
    .missing = Es ist noch kein Modell da.
    .gone = Nur im Verlauf

## What was found

benchmarks-result = Ergebnis
benchmarks-earlier = Das ist ein früheres Ergebnis vom { $time }. <newest>Neuestes zeigen</newest>
benchmarks-times = { $low }- bis { $high }
benchmarks-clause =
    .gains = Mit Vorausraten geht es { $about ->
        [prose] bei Prosa{ " " }
        [code] bei Code{ " " }
        [both] bei Prosa und bei Code{ " " }
       *[any] { "" }
    }{ $times }-mal so schnell
    .plain = Hier ist { $about ->
        [prose] bei Prosa{ " " }
        [code] bei Code{ " " }
        [both] bei Prosa und bei Code{ " " }
       *[any] { "" }
    }nichts schneller als ohne Entwürfe
    .uncertain = Vorausraten bringt hier { $about ->
        [prose] bei Prosa{ " " }
        [code] bei Code{ " " }
        [both] bei Prosa und bei Code{ " " }
       *[any] { "" }
    }keinen sicheren Gewinn
    .alone = Ohne Entwürfe schreibt das Modell hier { $about ->
        [prose] bei Prosa{ " " }
        [code] bei Code{ " " }
        [both] bei Prosa und bei Code{ " " }
       *[any] { "" }
    }{ $speed } Token pro Sekunde
    .unmeasured = Ohne Entwürfe wurde { $about ->
        [prose] bei Prosa{ " " }
        [code] bei Code{ " " }
        [both] bei Prosa und bei Code{ " " }
       *[any] { "" }
    }nicht gemessen
benchmarks-aside =
    .plain = { $about ->
        [prose] bei Prosa ist nichts schneller als ohne Entwürfe
       *[code] bei Code ist nichts schneller als ohne Entwürfe
    }
    .uncertain = { $about ->
        [prose] bei Prosa bringt Vorausraten keinen sicheren Gewinn
       *[code] bei Code bringt Vorausraten keinen sicheren Gewinn
    }
    .alone = { $about ->
        [prose] bei Prosa wurde nur ohne Entwürfe gemessen
       *[code] bei Code wurde nur ohne Entwürfe gemessen
    }
    .unmeasured = { $about ->
        [prose] bei Prosa wurde ohne Entwürfe nicht gemessen
       *[code] bei Code wurde ohne Entwürfe nicht gemessen
    }
benchmarks-sentence =
    .none = Es wurde nichts gemessen.
    .one = { $clause }.
    .two = { $clause }; { $aside }.
    .gains = Mit Vorausraten geht es bei Prosa { $prose }-mal und bei Code { $code }-mal so schnell.
    .gains-up-to = Mit Vorausraten geht es bei Prosa { $prose }-mal und bei Code bis zu { $code }-mal so schnell.
    .alone = Ohne Entwürfe schreibt das Modell hier bei Prosa { $prose } und bei Code { $code } Token pro Sekunde.
benchmarks-detail =
    .fastest = { $about ->
        [prose] Am schnellsten bei Prosa: { $names }.
        [code] Am schnellsten bei Code: { $names }.
        [both] Am schnellsten bei Prosa und bei Code: { $names }.
       *[any] Am schnellsten: { $names }.
    }
    .equal = { $about ->
        [prose] Bei Prosa gleich schnell, da sich die Spannen überschneiden: { $names }.
        [code] Bei Code gleich schnell, da sich die Spannen überschneiden: { $names }.
        [both] Bei Prosa und bei Code gleich schnell, da sich die Spannen überschneiden: { $names }.
       *[any] Gleich schnell, da sich die Spannen überschneiden: { $names }.
    }
benchmarks-bracket =
    .fastest = am schnellsten
    .equal = gleich schnell
benchmarks-ranges-note = { $runs ->
    [one] tok/s in einem Lauf
   *[other] tok/s, niedrigster bis höchster Wert aus { $runs } Läufen
}
benchmarks-range = { $low }- bis { $high }-mal so schnell wie ohne Entwürfe, im Median { $middle }-mal.
benchmarks-auto = { $about ->
    [prose] Auto, Prosa: { $note }
    [code] Auto, Code: { $note }
    [any] Auto, alle Texte: { $note }
   *[both] Auto: { $note }
}
benchmarks-figures = Alle Zahlen
    .runs = { $runs ->
        [one] { $runs } Lauf
       *[other] { $runs } Läufe
    }
benchmarks-prompt-read = Lesen eines Prompts mit { $tokens } Token
benchmarks-peak = Arbeitsspeicher höchstens
benchmarks-loaded = Geladen in
benchmarks-table = Geschwindigkeit nach Anzahl der Entwürfe
    .guesses = Entwürfe
    .speed = Token/s
    .gain = Faktor
    .pass = Pro Durchgang
    .accepted = Angenommen nach Stelle
benchmarks-notes = { $facts }.
    .place = { $format } auf der { $processor ->
        [cpu] CPU
       *[gpu] GPU
    } { $place ->
        [here] { -here(case: "genitive") }
       *[elsewhere] eines anderen Computers ({ $machine })
    }{ $memory ->
        [eight] , mit weniger Arbeitsspeicher für lange Chats (8 Bit)
       *[full] { "" }
    }
    .runs = { $runs ->
        [one] ein Lauf
       *[other] { $runs } Läufe
    } mit je { $tokens } Token{ $texts ->
        [both] { " " }jeder Textart
       *[one] { "" }
    }
    .strained = gemessen, als der Computer heiß war oder Energie sparte; sonst geht es schneller
benchmarks-unknown-processor = unbekannter Prozessor
benchmarks-strange =
    .machine = Anderer Computer: { $machine }
    .format = Anderes Format: { $format }
    .results = { $results ->
        [one] Ein Ergebnis von einem anderen Computer oder in einem anderen Format steht nur in der Tabelle.
       *[other] { $results } Ergebnisse von anderen Computern oder in anderen Formaten stehen nur in der Tabelle.
    }

## Over time

benchmarks-over-time = Im Lauf der Zeit
benchmarks-nothing = Es wurde noch nichts gemessen.
    .of-model = { $name } wurde noch nicht gemessen.
    .question = Was bringt Vorausraten auf { -here(case: "dative") }?
benchmarks-plotted = Welche Benchmarks gezeigt werden
    .full = Üblicher Arbeitsspeicher
    .eight = Weniger Arbeitsspeicher
benchmarks-apart = { $results ->
    [one] Ein Ergebnis { $memory ->
        [eight] mit weniger Arbeitsspeicher für lange Chats (8 Bit)
       *[full] mit üblichem Arbeitsspeicher
    } wird getrennt gezeigt.
   *[other] { $results } Ergebnisse { $memory ->
        [eight] mit weniger Arbeitsspeicher für lange Chats (8 Bit)
       *[full] mit üblichem Arbeitsspeicher
    } werden getrennt gezeigt.
}
benchmarks-metric = Was gezeigt wird
    .reading = Lesen
    .memory = Arbeitsspeicher
    .prompt = Prompt
benchmarks-line =
    .same = { $name }: { $value }
    .change = { $name }: von { $from } auf { $to }
benchmarks-chart = { $benchmarks ->
    [one] Ein Benchmark
   *[other] { $benchmarks } Benchmarks
}{ $memory ->
    [eight] { " " }mit weniger Arbeitsspeicher für lange Chats (8 Bit)
   *[full] { "" }
} { $days ->
    [one] vom { $begin }
   *[more] vom { $begin } bis zum { $end }
}. { $lines }{ $metric ->
    [memory] { "" }
    [reading] { " " }Prompt-Token pro Sekunde
   *[other] { " " }Token pro Sekunde
}.
benchmarks-results = Alle Ergebnisse
    .measured = Gemessen
    .show = Dieses Ergebnis zeigen
    .eight = Weniger Arbeitsspeicher (8 Bit)
    .unmeasured = nicht gemessen
    .delete = Löschen
    .delete-one = Ergebnis vom { $time } löschen
benchmarks-deleted = Das Ergebnis von { $model } vom { $time } wurde gelöscht.
    .undo = Widerrufen
benchmarks-unreadable = { $lines ->
    [one] Eine Zeile des Verlaufs ist nicht lesbar und bleibt in der Datei.
   *[other] { $lines } Zeilen des Verlaufs sind nicht lesbar und bleiben in der Datei.
}

## One question without drafts and with them

benchmarks-compare =
    .title = Nebeneinander
    .note = Eine Frage mit denselben Einstellungen und demselben Startwert: erst ohne Entwürfe, dann mit. Beide Antworten werden für sich geschrieben, damit keine die andere bremst. Keinem Chat wird etwas hinzugefügt.
    .question = Frage zum Vergleichen
    .owl = Erzähl mir eine Geschichte von einer Eule und einer Glocke.
    .nothing = Es gibt noch nichts zu fragen.
    .run = Vergleichen
    .cancel = Abbrechen
    .progress = Vergleich
benchmarks-refused =
    .window = Das geht nur im Hauptfenster.
    .comparing = Ein Vergleich läuft gerade.
    .no-model = Kein Modell ist bereit.
    .no-head = Dieses Modell hat keinen MTP-Kopf, mit dem sich vergleichen ließe; „Auto“ und „Nachschlagen“ nehmen ihre Entwürfe aus dem Text.
    .no-draft-model = Mit diesem Modell ist kein Entwurfsmodell geladen. Wähle andere Entwürfe oder lade eines unter „Modelle“.
    .writing = Gerade wird eine Antwort geschrieben; beide Texte müssen allein gemessen werden.
benchmarks-progress =
    .beginning = Beginnt
    .reading = Prompt wird gelesen: { $done } von { $total } Token
    .plain = Wird ohne Entwürfe geschrieben: { $tokens } Token
    .drafted = Wird mit Entwürfen geschrieben: { $tokens } Token
benchmarks-ratio =
    .short = Die Antworten sind zu kurz für eine Aussage über die Geschwindigkeit.
    .faster = Mit Entwürfen wurde diese Antwort { $times }-mal so schnell geschrieben.
    .slower = Mit Entwürfen war diese Antwort langsamer: { $times }-mal so schnell wie ohne.
    .same = Entwürfe haben an der Geschwindigkeit dieser Antwort nichts geändert.
benchmarks-texts =
    .equal = Beide Texte sind gleich, Token für Token.
    .equal-drawn = Beide Texte sind gleich, Token für Token, obwohl ihre Wörter zufällig gezogen wurden.
    .different = Die Texte unterscheiden sich nach { $tokens } gleichen Token. Mit diesen Einstellungen müssten sie gleich sein: Hier stimmt etwas nicht.
    .rounded = Die Texte unterscheiden sich nach { $tokens } gleichen Token, und das dürfen sie: Wo Entwürfe geprüft werden, rundet { -here } anders, und das entscheidet zwischen Wörtern, die so gut wie gleichauf liegen. „{ chat-rule-strict }“ unter „{ chat-rule }“ im MTP-Menü hält die meisten Texte gleich.
    .rounded-strict = Die Texte unterscheiden sich nach { $tokens } gleichen Token, und das dürfen sie: Wo Entwürfe geprüft werden, rundet { -here } anders, und das entscheidet zwischen Wörtern, die so gut wie gleichauf liegen. „{ chat-rule-strict }“ reicht nicht so weit: Es gilt für kürzere Chats und neben weniger anderen.
    .same-chances = Die Wörter unterscheiden sich, und das dürfen sie: Mit „{ chat-rule-rejection }“ ist jedes Wort so wahrscheinlich wie ohne Entwürfe, aber gezogen werden andere.
benchmarks-compared =
    .drafts = Entwürfe: { $drafts }
    .seed = Startwert { $seed }
    .once = je eine Messung
    .facts = { $facts }. Die Uhr beginnt jeweils mit dem ersten Token; für beide war der Prompt schon gelesen.
benchmarks-replay =
    .play = Abspielen
    .again = Noch einmal
    .pause = Pause
    .time = Zeit
    .end = Zum Ende
    .written = { $here } von { $all } Token
    .done = { $here } von { $all } Token, fertig nach { $time }
benchmarks-replay-plain = Ohne Entwürfe
    .text = Der Text ohne Entwürfe
benchmarks-replay-drafted = Mit Entwürfen
    .text = Der Text mit Entwürfen
