### Made by a machine; no native speaker has read it yet.

markdown-task = Aufgabe
markdown-table = Tabelle
    .copy = Tabelle kopieren
markdown-formula = Formel
markdown-code = Code
    .copy = Kopieren
    .preview = Vorschau
    .no-scripts = Skripte werden hier nicht ausgeführt.
    .plain = Text

## Links

markdown-link = Adresse des Links
    .copy = Adresse kopieren
    .mail = E-Mail schreiben
    .open = Im Browser öffnen
markdown-link-other-site = Der Text des Links nennt eine andere Website, { $site }.
markdown-link-sign-in = Ein Anmeldename, „{ $name }“, wurde weggelassen: Die Website ist { $site }.
markdown-link-one-mailbox = Im Link steht noch mehr. Nur ein Postfach und der Betreff werden übernommen.
markdown-link-letters = Ausgeschrieben lautet sie „{ $name }“, mit Buchstaben dieser Schriften: { $scripts }. Sie ahmt womöglich eine andere Website nach.
markdown-script = { $script ->
    [latin] Lateinisch
    [cyrillic] Kyrillisch
    [greek] Griechisch
    [armenian] Armenisch
    [georgian] Georgisch
    [cherokee] Cherokee
    [hebrew] Hebräisch
    [arabic] Arabisch
    [devanagari] Devanagari
    [bengali] Bengalisch
    [tamil] Tamil
    [thai] Thai
    [han] Chinesisch
    [hiragana] Hiragana
    [katakana] Katakana
    [hangul] Koreanisch
   *[other] andere
}
