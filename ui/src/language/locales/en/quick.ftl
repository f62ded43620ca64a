### The panel for a question in passing.

quick-ask = Ask anything
    .further = Ask further
    .label = Question
quick-no-model = No model
quick-reply = Reply
    .thinking = Thinking

## What the keys do, after their names

quick-stop = stop
quick-close = close
quick-go-on = go on in the window
quick-copy = copy the reply
quick-anew = ask anew
quick-choose-keys = Choose keys that show this anywhere
quick-shown-by = <key>{ $keys }</key> shows this anywhere

## The keys that show the panel

quick-keys-off = None
quick-keys-alt-space = { PLATFORM() ->
    [mac] ⌥Space
   *[other] Alt+Space
}
quick-keys-control-alt-space = { PLATFORM() ->
    [mac] ⌃⌥Space
   *[other] Ctrl+Alt+Space
}
quick-keys-shift-command-space = { PLATFORM() ->
    [mac] ⇧⌘Space
   *[other] Ctrl+Shift+Space
}
