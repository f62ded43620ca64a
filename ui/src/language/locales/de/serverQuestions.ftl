### Made by a machine; no native speaker has read it yet.

server-question = <strong>{ $server }</strong> fragt:
    .plain = { $server } fragt dich etwas.
    .place = { $at } von { $of }
    .message = Was er sagt
    .required = nötig
    .none = Nichts ausgewählt
    .no-time = Das ist noch kein Datum mit Uhrzeit.
    .missing = „{ $field }“ ist noch leer.
    .wrong = „{ $field }“: { $problem }
    .note = Das geht so an { $server }, wie du es schreibst. Schreibe hier nie ein Passwort hinein.
    .not-opened = Diese Adresse enthält einen Anmeldenamen, der wie der Name einer Seite aussehen kann. Von hier aus wird sie nicht geöffnet.
    .send = Senden
    .open = Öffnen
    .decline = Ablehnen
    .sent = Deine Antwort ist unterwegs.
