### What servers have for the person: prompts above a message, and what goes with one.

offers-prompt =
    .insert = Insert
    .filling = Being filled in…
    .sent = The server is filling it in.
    .cancel = Cancel
    .note = What you write here goes to { $server }.

## What servers have to read

offers-attach = From a server…
offers-resources = From a server
    .search = Search
    .list = What your servers have
    .asking = Asking your servers…
    .none = Your servers have nothing that could be attached.
    .no-match = Nothing fits.
