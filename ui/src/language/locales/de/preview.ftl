### Made by a machine; no native speaker has read it yet.

preview-diagram = Diagramm
preview-drawing = Zeichnung
preview-page = Seite
preview-too-much = Das zu zeichnen würde zu lange dauern.
preview-diagram-failed = Das Diagramm lässt sich nicht zeichnen.
