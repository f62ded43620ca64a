### Made by a machine; no native speaker has read it yet.

macs-page = Andere Macs
    .words = Ein Modell, das für diesen Mac zu groß ist, kann seine Schichten auf Macs verteilen, die du gekoppelt hast.

## Paired

macs-paired = Gekoppelt
    .none = Es ist noch kein anderer Mac gekoppelt.
macs-this = Dieser Mac
    .leads = führt
    .memory = { $size } für Modelle
macs-state =
    .here = verbunden
    .asking = wird gefragt …
    .away = antwortet nicht
macs-free = { $size } frei
macs-may-use = darf diesen Mac verwenden
    .not = darf diesen Mac nicht verwenden
    .switch = „{ $name }“ diesen Mac verwenden lassen
macs-more = Mehr zu { $name }
macs-test = Verbindung testen
macs-allow = Diesen Mac verwenden lassen
    .no-longer = Diesen Mac nicht mehr verwenden lassen
macs-address = Adresse ändern …
    .label = Adresse von „{ $name }“
    .save = Sichern
    .cancel = Abbrechen
    .same = Es ist schon diese Adresse.
    .missing = Es fehlt eine Adresse.
macs-forget = Vergessen
    .ask = Vergessen …
macs-forget-sheet = „{ $name }“ vergessen?
    .lends = Er rechnet dann nicht mehr für diesen Mac. Modelle, die auf ihn verteilt sind, werden nur auf diesem Mac geladen, wenn sie passen. Um ihn wieder zu verwenden, kopple die beiden erneut.
    .borrows = Was er hier berechnet, endet, und er kann diesen Mac nicht mehr verwenden, bis du die beiden erneut koppelst.
    .sure = Vergessen

## Together they hold

macs-together = Gemeinsam geladen
    .drag = Zieh an einer Grenze, um Schichten zu verschieben
    .alone = Nur auf diesem Mac laden
    .with-layers = Mit diesen Schichten laden
    .as-it-was = Wie vorher
macs-layers =
    { $count ->
        [one] { $count } Schicht
       *[other] { $count } Schichten
    }
macs-part = { $name }, { $size }
    .layers = { $name } { $layers }
    .too-much = mehr als die { $usable }, die er Modellen gibt
macs-edge = Schichten zwischen „{ $left }“ und „{ $right }“

## Pair another Mac

macs-pair = Einen weiteren Mac koppeln
    .none = Macs in deinem Netzwerk, die sich verwenden lassen, erscheinen hier.
    .button = Koppeln
    .button-for = Koppeln: { $name }
    .field = Adresse des anderen Macs
    .example = Host oder Host:Port
    .empty = Gib die Adresse ein, die der andere Mac zeigt.
    .busy = Es wird gerade ein Mac gekoppelt.
macs-pairing =
    .asking = { $whom } wird gefragt …
    .cancel = Abbrechen
    .digits = Die Zahl ist { $digits }.
    .question = Zeigt „{ $name }“ dieselbe Zahl?
    .both = Ihr bestätigt es beide. Gültig noch { $time }.
    .borrows = „{ $name }“ kann diesen Mac dann verwenden.
    .lends = Dieser Mac kann „{ $name }“ dann verwenden.
    .no = Nein
    .same = Dieselbe
    .waiting = Warten auf den anderen Mac …
    .waiting-time = „{ $name }“ muss noch bestätigen. Gültig noch { $time }.
    .paired = „{ $name }“ ist gekoppelt.
    .trust = Wem ein Mac gehört, der sich verwenden lässt, der könnte im Prinzip herausfinden, was in den Chats steht, die er berechnet. Kopple also nur Macs, denen du vertraust.
    .close = Schließen

## Lend this Mac

macs-lend = Diesen Mac verleihen
macs-lend-on = Gekoppelte Macs diesen verwenden lassen
    .off = Solange das aus ist, nimmt dieser Mac im Netzwerk nichts entgegen.
    .on = Solange das an ist, nimmt dieser Mac im Netzwerk Verbindungen entgegen. Nur gekoppelte Macs kommen herein, und du kannst es jederzeit beenden.
    .starting = Startet …
macs-lend-address = Adresse
    .words = Gib sie auf dem anderen Mac ein, wenn er diesen nicht findet
    .copy = Kopieren
macs-lend-pair = Einen Mac koppeln lassen
    .words = Für zwei Minuten. Beide Macs zeigen dann eine Zahl zum Vergleichen
    .open = Offen noch { $time }. Wähle diesen Mac auf dem anderen aus
    .button = Einen Mac koppeln lassen
    .stop = Beenden
    .not-yet = Dieser Mac nimmt noch keine Verbindungen entgegen.
macs-lend-memory = Arbeitsspeicher
    .words = Das Höchste, was ein Modell eines anderen Macs hier belegen darf
    .all = So viel, wie dieser Mac Modellen gibt
    .all-of = So viel, wie dieser Mac Modellen gibt ({ $size })
macs-lend-keep = Schichten von Modellen behalten
    .words = Andere Macs geben diesem die Schichten, die er berechnet. Was am längsten nicht gebraucht wurde, macht Platz
    .none = Keine
    .most = Bis zu { $size }
macs-lend-power = Nur am Netzteil
    .words = Nicht, solange dieser Mac auf Batterie läuft
macs-lend-unused = Nie, während ich hier chatte
    .words = Dein eigenes Modell macht Platz, solange es nichts tut, und beendet die Leihe, sobald du es benutzt
macs-loan = { $mac } berechnet hier einen Teil von { $model }, seit { $time }
    .words = Dein Mac kann solange langsamer sein
    .stop = Jetzt beenden
macs-stored = { $model }, von { $mac }
    .remove = Entfernen
    .remove-of = Entfernen: { $model }
    .in-use = Sie werden verwendet.

## What other Macs could do for a model

macs-outlook = Auf mehreren Macs
    .open = Auf mehreren Macs …
    .asking = Deine anderen Macs werden gefragt …
    .use = Auch andere Macs verwenden
    .again = Noch einmal fragen
    .fits = Passt auf { $macs }.
    .figures = Chats bis { $context } · etwa { $rate } Token/s ohne Vorausraten, geschätzt
    .left-out = Nicht nötig: { $macs }.
    .load = Auf diese Macs verteilt laden
    .lacking =
        { $count ->
            [one] { $macs } hat dieses Modell nicht.
           *[other] { $macs } haben dieses Modell nicht.
        }
    .lacking-hint = Erlaube dort unter Einstellungen › Andere Macs, dass Schichten von Modellen behalten werden, oder lade das Modell dort.
    .too-big = Es ist auch für alle deine Macs zusammen zu groß.
    .too-big-hint = Zusammen geben sie Modellen { $size }.
    .nobody = Kein gekoppelter Mac antwortet.
    .nobody-hint = Prüfe, ob die anderen Macs wach und verbunden sind und sich verwenden lassen.
    .settings = Andere Macs …
    .unpaired = Ein anderer Mac könnte einen Teil davon übernehmen: <settings>Einstellungen › Andere Macs</settings>.
    .is-spread = Es ist auf { $macs } verteilt.
macs-giving = { $mac } bekommt seine Schichten
    .progress = Übertragene Schichten
    .words = Das Modell wird geladen, sobald sie da sind. Sie bleiben auf dem anderen Mac für das nächste Mal.
    .stop = Beenden
macs-plus = { $first } + { $rest }

## The Macs that compute

macs-ring = Berechnet von
    .count = { $count } Macs
    .step = { $time } je Schritt
    .none = –
    .between = Dazwischen
