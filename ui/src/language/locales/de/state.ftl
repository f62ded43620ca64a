### Made by a machine; no native speaker has read it yet.

state-opening = Die Chats werden noch geöffnet.
state-nobody-answers = Kein Modell kann antworten. Warum, steht im Hinweis über der Nachricht.
state-sending = Die letzte Nachricht wird noch gesendet.
state-starting = Die Engine startet noch.
state-loading = Ein Modell wird geladen.
state-not-loaded = Es ist kein Modell geladen, daher sind seine eigenen Werte nicht bekannt.
state-writing = In diesem Chat wird gerade eine Antwort geschrieben.
state-summarising = Eine Zusammenfassung dieses Chats wird geschrieben.
state-unreachable = Der Prozess der App hat nicht geantwortet: { $why }.
    .hint = Schließe das Fenster und öffne Foretoken erneut. Was geschrieben wurde, bleibt erhalten.
