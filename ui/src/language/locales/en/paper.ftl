### A chat as it is printed and written into an HTML file.

paper-unnamed = Chat
paper-instructions = What it should always know
paper-person = You
paper-reply = Reply
paper-thinking = Thinking
paper-picture = Picture: { $name }
paper-file = File: { $name }
