### Other Macs: those that compute a part of a model for this one, and those that this one does so for.

macs-page = Other Macs
    .words = A model that is too big for this Mac can share its layers with Macs that you have paired.

## Paired

macs-paired = Paired
    .none = No other Mac is paired yet.
macs-this = This Mac
    .leads = leads
    .memory = { $size } for models
macs-state =
    .here = connected
    .asking = asking…
    .away = does not answer
macs-free = { $size } free
macs-may-use = may use this Mac
    .not = may not use this Mac
    .switch = Let “{ $name }” use this Mac
macs-more = More for { $name }
macs-test = Test link
macs-allow = Let it use this Mac
    .no-longer = No longer let it use this Mac
macs-address = Change address…
    .label = Address of “{ $name }”
    .save = Save
    .cancel = Cancel
    .same = It is this address already.
    .missing = An address is needed.
macs-forget = Forget
    .ask = Forget…
macs-forget-sheet = Forget “{ $name }”?
    .lends = It no longer computes for this Mac. Models that are spread over it load on this Mac alone, where they fit. To use it again, pair the two once more.
    .borrows = What it computes here ends, and it can no longer use this Mac until the two are paired once more.
    .sure = Forget

## Together they hold

macs-together = Together they hold
    .drag = Drag an edge to move layers
    .alone = Load on this Mac alone
    .with-layers = Load with these layers
    .as-it-was = As it was
macs-layers =
    { $count ->
        [one] { $count } layer
       *[other] { $count } layers
    }
macs-part = { $name }, { $size }
    .layers = { $name } { $layers }
    .too-much = more than its { $usable } for models
macs-edge = Layers between { $left } and { $right }

## Pair another Mac

macs-pair = Pair another Mac
    .none = Macs in your network that lend themselves show up here.
    .button = Pair
    .button-for = Pair: { $name }
    .field = Address of the other Mac
    .example = host or host:port
    .empty = Type the address that the other Mac shows.
    .busy = A pairing is under way.
macs-pairing =
    .asking = Asking { $whom }…
    .cancel = Cancel
    .digits = The number is { $digits }.
    .question = Does “{ $name }” show the same number?
    .both = Both of you confirm. Good for { $time }.
    .borrows = “{ $name }” can then use this Mac.
    .lends = This Mac can then use “{ $name }”.
    .no = No
    .same = The same
    .waiting = Waiting for the other Mac…
    .waiting-time = “{ $name }” has yet to confirm. Good for { $time }.
    .paired = “{ $name }” is paired.
    .trust = The owner of a Mac that lends itself could, in principle, work out what is written in the chats that it computes. So pair only with Macs that you trust.
    .close = Close

## Lend this Mac

macs-lend = Lend this Mac
macs-lend-on = Let paired Macs use this one
    .off = Nothing listens on the network until this is on.
    .on = While this is on, this Mac listens on the network. Only paired Macs are let in, and you can stop it at any time.
    .starting = Starting…
macs-lend-address = Address
    .words = Type it on the other Mac if that does not find this one
    .copy = Copy
macs-lend-pair = Let a Mac pair
    .words = For two minutes. Both Macs then show a number to compare
    .open = Open for { $time }. Choose this Mac on the other one
    .button = Let a Mac pair
    .stop = Stop
    .not-yet = This Mac does not listen yet.
macs-lend-memory = Memory
    .words = The most that a model of another Mac may take here
    .all = As much as this Mac gives models
    .all-of = As much as this Mac gives models ({ $size })
macs-lend-keep = Keep layers of models
    .words = Other Macs give this one the layers that it computes. What was used least makes way
    .none = None
    .most = Up to { $size }
macs-lend-power = Only on power
    .words = Not while this Mac runs on its battery
macs-lend-unused = Never while I chat here
    .words = Your own model makes way while it is idle, and ends the loan when you use it
macs-loan = { $mac } computes a part of { $model } here, since { $time }
    .words = Your Mac may be slower meanwhile
    .stop = Stop now
macs-stored = { $model }, from { $mac }
    .remove = Remove
    .remove-of = Remove: { $model }
    .in-use = It is in use.

## What other Macs could do for a model

macs-outlook = Over several Macs
    .open = Over several Macs…
    .asking = Asking your other Macs…
    .use = Use other Macs too
    .again = Ask again
    .fits = Fits on { $macs }.
    .figures = Chats up to { $context } · about { $rate } tokens/s without guesses, estimated
    .left-out = Not needed: { $macs }.
    .load = Load over these Macs
    .lacking =
        { $count ->
            [one] { $macs } does not have this model.
           *[other] { $macs } do not have this model.
        }
    .lacking-hint = On that Mac, in Settings › Other Macs, let it keep layers of models, or download the model there.
    .too-big = It is too big for your Macs together.
    .too-big-hint = Together they give models { $size }.
    .nobody = No paired Mac answers.
    .nobody-hint = Check that the other Macs are awake, connected and let this one use them.
    .settings = Other Macs…
    .unpaired = Another Mac could hold a part of it: <settings>Settings › Other Macs</settings>.
    .is-spread = It is loaded over { $macs }.
macs-giving = Giving { $mac } its layers
    .progress = Layers given
    .words = The model loads when they are there. They are kept on that Mac for the next time.
    .stop = Stop
macs-plus = { $first } + { $rest }

## The Macs that compute

macs-ring = Computed by
    .count = { $count } Macs
    .step = { $time } a step
    .none = –
    .between = Between them
