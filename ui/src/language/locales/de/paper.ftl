### Made by a machine; no native speaker has read it yet.

paper-unnamed = Chat
paper-instructions = Was es immer wissen soll
paper-person = Du
paper-reply = Antwort
paper-thinking = Denken
paper-picture = Bild: { $name }
paper-file = Datei: { $name }
