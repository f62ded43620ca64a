### What code looks like, in a frame.

preview-diagram = Diagram
preview-drawing = Drawing
preview-page = Page
preview-too-much = This would take too long to draw.
preview-diagram-failed = The diagram cannot be drawn.
