### Why something cannot be done now.

state-opening = The chats are still being opened.
state-nobody-answers = No model can answer. The note above the message says why.
state-sending = The last message is still being sent.
state-starting = The engine is still starting.
state-loading = A model is being loaded.
state-not-loaded = No model is loaded, so its own values are not known.
state-writing = A reply is being written in this chat.
state-summarising = A summary of this chat is being written.
state-unreachable = The app's own process did not answer: { $why }.
    .hint = Close the window and open Foretoken again. What was written is kept.
