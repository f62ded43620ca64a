### Made by a machine; no native speaker has read it yet.

chat-replies = Antworten
chat-about = etwa { $count }
chat-standing = Was jeder Chat wissen soll
chat-project-knows = Was „{ $project }“ weiß
chat-context = Kontext
    .used = Vom Kontext des Modells sind { $used } von { $of } Token belegt. { $more }
    .about = Vom Kontext des Modells sind etwa { $used } von { $of } Token belegt. { $more }
    .filled = Was den Kontext füllt: { $share } davon sind belegt.
chat-memory = Belegter Arbeitsspeicher
    .about = etwa { $size }
    .tokens = Gemerkte Token
    .why = Er kommt zu den Gewichten des Modells hinzu. Brauchen andere Chats den Platz, wird er freigegeben, und bei der nächsten Frage wird der Chat neu gelesen.
chat-versions = Versionen
chat-files = Dateien

chat-filling = Es wird nichts weggelassen, bis er voll ist.
    .nearly = Der Kontext ist fast voll. Es wird nichts weggelassen: Ist er voll, kann der Chat in einem neuen weitergehen, der mit einer Zusammenfassung des älteren Teils beginnt.
    .may-end = Die nächste Antwort endet womöglich mit dem Kontext. Es wird nichts weggelassen; der Chat kann in einem neuen weitergehen, der mit einer Zusammenfassung des älteren Teils beginnt.
    .full = Der Kontext ist voll: Das Modell kann in diesem Chat nicht mehr antworten. Mach in einem neuen weiter, der mit einer Zusammenfassung des älteren Teils beginnt, oder zweige von einer früheren Nachricht ab.
chat-room =
    { $words ->
        [one] Platz für etwa ein weiteres Wort.
       *[other] Platz für etwa { $words } weitere Wörter.
    }
    .none = Kein Platz mehr.
chat-fills =
    .always = Was es immer weiß
    .tools = Werkzeuge
    .files = Dateien
    .messages = Nachrichten
    .free = Frei
chat-tokens-used = { $used } von { $of } Token sind belegt. { $more }
    .about = Etwa { $used } von { $of } Token sind belegt. { $more }
chat-new = Neuer Chat

chat-composer = Nachricht
    .project = In { $project } fragen
    .model = Nachricht an { $model }
chat-cannot-send =
    .reading = Eine Datei wird noch gelesen.
    .ask = Stell eine Frage: Von der langen Datei werden die Teile gelesen, die dazu passen.
    .empty = Es gibt noch keine Nachricht zum Senden.
chat-send = Senden
    .title = Senden (Enter)
chat-stop = Stoppen
    .title = Stoppen (Esc)
chat-dismiss = Schließen
chat-attach = Dateien oder Bilder anhängen
    .files = Dateien: Text, Code, PDF, Word, Excel
    .pictures = Bilder
    .seeing = { $model } verwenden (sieht Bilder)
    .get = Modell laden, das Bilder sieht
chat-ask-two = Zwei Modelle fragen
    .too = Auch { $model } fragen
chat-blind = { $model } sieht keine Bilder und erfährt nur, wie sie heißen. { $reason }
    .nameless = Dieses Modell sieht keine Bilder und erfährt nur, wie sie heißen. { $reason }
    .get = Passendes Modell laden
    .use = { $model } verwenden
chat-blindness = Dieses Modell liest nur Text.
    .left-out = Der Teil, mit dem es sieht, wurde bei der Umwandlung weggelassen. Wandle das Original noch einmal um, um ihn zurückzubekommen.
    .not-described = Die Dateien enthalten den Teil, mit dem es sieht, aber die Konfiguration beschreibt ihn nicht.
    .unusable = Der Teil, mit dem es sieht, kann nicht verwendet werden: { $reason }
    .too-little-memory = Für den Teil, mit dem es sieht, reicht der Arbeitsspeicher nicht: Mit einem Bild bräuchte es { $needed }, und Modelle dürfen hier { $available } belegen. Wähle ein kleineres Modell.
chat-temporary-note = Temporär: Von diesem Chat wird nichts gespeichert. Er ist weg, sobald du ihn verlässt.
    .keep = Diesen Chat behalten
chat-second = { $model } antwortet auch, sobald diese Antwort da ist.
    .cancel = Abbrechen
chat-answered-by = In diesem Chat hat { $model } geantwortet.
    .demo = In diesem Chat hat das Demomodell geantwortet.
    .again = Wieder verwenden
chat-goes-on = Der Chat geht hier weiter.

chat-conversation = Chatverlauf
    .untitled = Neuer Chat
    .latest = ↓ neueste
chat-opening = Deine Chats werden geöffnet.
    .why = Der erste Start nach einem Update dauert länger: Bevor die Chats geändert werden, wird von allen eine Kopie gemacht.

chat-more-files =
    { $count ->
        [one] Eine weitere Datei
       *[other] { $count } weitere Dateien
    }
chat-attached = Angehängte Dateien
    .long = lang: gelesen werden die Teile, die zur Frage passen
    .part = teilweise
    .reading = wird gelesen
    .skip = Nicht auf { $name } warten
    .skip-title = Nicht darauf warten
    .take = { $name } entfernen
    .take-title = Entfernen
chat-file-count =
    { $count ->
        [one] Eine Datei
       *[other] { $count } Dateien
    }
chat-file-cost = { $tokens } Token
    .about = etwa { $tokens } Token
chat-too-many-files = Mit einer Nachricht können nicht mehr als { $most } Dateien gesendet werden.
    .hint = Lass einige weg oder fasse in einer Datei zusammen, was zusammengehört.
chat-files-too-large = Die Dateien einer Nachricht dürfen zusammen nicht größer als { $most } MB sein.
    .hint = Lass einige weg; so viel liest kein Modell.
chat-too-many-pictures = Mit einer Nachricht können nicht mehr als { $most } Bilder gesendet werden.
    .hint = Lass einige weg oder verteile sie auf mehrere Nachrichten.

chat-pictures = Bilder
chat-picture-gone = { $name }, Datei nicht mehr da
chat-picture-open = { $name } öffnen
chat-picture-take = { $name } entfernen
    .title = Entfernen
chat-picture-facts = { $width } × { $height } { $format }, { $size }
chat-picture-cost = { $tokens } Token
    .named =
        { $name }: { $tokens } Token, { $detail ->
            [low] niedrige
            [standard] normale
            [high] hohe
           *[original] volle
        } Detailstufe
    .in-detail =
        { $tokens } Token bei { $detail ->
            [low] niedriger
            [standard] normaler
            [high] hoher
           *[original] voller
        } Detailstufe
chat-detail =
    .low = Niedrig, höchstens { 256 } Token
    .standard = Normal, höchstens { 1024 } Token
    .high = Hoch, höchstens { 4096 } Token
    .original = Voll, so viel das Modell liest
chat-picture-close = Schließen
    .title = Schließen (Esc)
chat-picture-place = { $place } von { $all }
chat-picture-copy = Kopieren
    .gone = Die Datei ist nicht mehr da.
chat-picture-save = Sichern …
    .saved = Als { $path } gesichert.
chat-seen =
    { $pictures ->
        [one] 1 Bild
       *[other] { $pictures } Bilder
    }, { $tokens } Token, in { $time } gesehen
    .remembered =
        { $pictures ->
            [one] 1 Bild
           *[other] { $pictures } Bilder
        }, { $tokens } Token, gemerkt
chat-unseen =
    { $pictures ->
        [one] 1 Bild
       *[other] { $pictures } Bilder
    } nicht gesehen: { $reasons }
    .no-sight = das Modell liest nur Text
    .no-room = kein Platz im Kontext
    .missing = Datei nicht mehr da
    .undecoded = Datei nicht lesbar
    .counted = { $reason } ({ $count })
chat-looking =
    { $pictures ->
        [one] Sieht sich das Bild an
       *[other] Sieht sich { $pictures } Bilder an
    }
    .again = Sieht sich frühere Bilder noch einmal an

chat-panel = Über diese Antwort und diesen Chat
    .hide = Infobereich ausblenden
    .show = Infobereich einblenden
    .shown = Was gezeigt wird
    .reply = Diese Antwort
    .chat = Dieser Chat
    .empty = Sobald eine Antwort geschrieben ist, steht hier, wie sie entstanden ist.

chat-how-made = Wie diese Antwort entstanden ist ({ $keys })
chat-waiting = Wartet
    .turn =
        { $ahead ->
            [0] Wartet, bis sie an der Reihe ist
           *[other] Wartet, bis sie an der Reihe ist, { $ahead } davor
        }
    .writing = Schreibt
chat-reading = Liest { $done } von { $total }
    .prompt = Prompt wird gelesen
    .remembered = { $count } gemerkt
    .cached = (im Cache)
    .left = noch { $time }

chat-more = Mehr zur Antwort
    .message = Mehr zu deiner Nachricht
chat-answer-again = Noch einmal antworten mit
chat-compare-drafts = Mit und ohne Entwürfe vergleichen
chat-compare-versions = Nebeneinander vergleichen
chat-guesses =
    .show = Entwürfe im Text einblenden
    .hide = Entwürfe im Text ausblenden
chat-edit = Bearbeiten
chat-read-aloud = Vorlesen
    .stop = Vorlesen stoppen
chat-copy-plain = Als reinen Text kopieren
    .empty = Es gibt keinen Text zum Kopieren.
chat-branch = In einen neuen Chat abzweigen
chat-delete-from = Ab hier löschen

chat-mtp = Vorausraten <term>spekulatives Decoding</term>
    .title = Vorausraten: Multi-Token Prediction
    .drafts = Entwürfe pro Durchgang
    .unit = Tempo gegenüber „Aus“, { -here }
    .own-head = Mit dem eigenen Kopf des Modells <term>MTP</term>
    .note = Ein falscher Entwurf kostet etwas Zeit, macht die Antwort aber nie schlechter. Deine Wahl gilt ab der nächsten Nachricht.
chat-way =
    .auto = So weit voraus, wie es sich lohnt
    .off = Ein Wort pro Durchgang
    .fixed = { $count } voraus
    .dflash = Viele auf einmal, von einem Entwurfsmodell
    .lookup = Wiederholt, was im Chat steht: für Zitate und Änderungen
chat-needs-draft = Braucht ein Entwurfsmodell
    .of = Braucht ein Entwurfsmodell, { $size }
    .not-loaded = Das Entwurfsmodell ist da, aber nicht mitgeladen
chat-rule = Welche Entwürfe bleiben
chat-rule-coupled = Gleicher Text
    .words = Ein Entwurf bleibt, wo das Modell dasselbe Wort zieht. Der Text ist derselbe wie ohne MTP, außer wenn zwei Wörter so gut wie gleichauf liegen: Dann entscheidet die Rundung.
chat-rule-strict = Buchstabengetreu
    .words = Derselbe Text auch dann, wenn zwei Wörter so gut wie gleichauf liegen: Kurze Durchgänge werden aufgefüllt, damit { -here } möglichst gleich rundet. Etwas langsamer.
chat-rule-rejection = Mehr Entwürfe
    .words = Es bleiben mehr Entwürfe, und jedes Wort ist so wahrscheinlich wie ohne sie. Der Text wird ein anderer, auch mit Startwert.

chat-story-plain = Ein Wort pro Durchgang geschrieben.
    .unpaid = Keine Entwürfe: Sie lohnen sich hier nicht.
    .why = Es wurde nichts vorausgeraten, also schrieb jeder Durchgang ein Wort (Token).
chat-story-wasted = Das Vorausraten hat hier kaum Durchgänge gespart.
    .why = Fast alle Entwürfe waren falsch, also schrieb jeder Durchgang nur etwa ein Wort (Token).
chat-story-unmeasured = Jeder Durchgang schrieb { $words } Wörter (Token).
    .why = Ohne Entwürfe ist es eines. Was das bringt, ist auf { -here(case: "dative") } für solche Antworten noch nicht gemessen.
chat-story-measured =
    Ohne Entwürfe schrieb das Modell auf { -here(case: "dative") } { $rate } tok/s, { $source ->
        [tune] als es gemessen wurde
       *[replies] wie andere Antworten zeigen
    }.
chat-story-gain = { $times }-mal so schnell wie ohne Entwürfe.
    .why = Jeder Durchgang des Modells schrieb { $words } Wörter (Token) statt einem: sein eigenes und die Entwürfe, die richtig waren. { $measured }
chat-story-loss = Das Vorausraten hat hier Zeit gekostet: { $times }-mal so schnell wie ohne.
    .none = Das Vorausraten hat hier nichts geändert.
    .why = Jeder Durchgang schrieb { $words } Wörter (Token), dauerte aber länger: Die Entwürfe mussten gemacht und geprüft werden. { $measured }

chat-pass = In einem durchschnittlichen Durchgang: ein eigenes Wort, { $guesses }; zusammen { $all }.
    .part = { $figure } aus dem { $place }. Entwurf
    .own = eigenes
    .place = { $place }.
    .guess = { $place }. Entwurf
    .unit = Wörter<line>pro Durchgang</line>
    .caption = Ungefüllt: falsche Entwürfe. Dort hat das Modell ein anderes Wort geschrieben.

chat-thinking =
    .off = Aus
    .brief = Kurz
    .normal = Normal
    .long = Lang
    .limit = Grenze
chat-thinking-reason =
    .no-switch = Die Chatvorlage dieses Modells hat keinen Schalter für das Denken.
    .always = Die Chatvorlage dieses Modells hat keinen Schalter für das Denken: Es denkt immer und lässt sich dabei nur abkürzen.
    .no-more = Dieses Modell denkt, so lange es will, und lässt sich nicht um mehr bitten.
chat-thinks =
    .off = Es antwortet sofort.
    .little = Es wird gebeten, wenig zu denken.
    .brief = Die Antwort beginnt spätestens nach { $tokens } Token Denken, bei kurzem Kontext früher.
    .normal = Es denkt, so lange es will.
    .much = Es wird gebeten, viel zu denken.
    .long = Es denkt, so lange es will, wie bei „Normal“.
    .limit = Die Antwort beginnt spätestens nach so vielen Token Denken.
chat-thinking-label =
    .off = kein Denken
    .brief = kurzes Denken
    .long = langes Denken
    .limit = Denken bis { $tokens }
