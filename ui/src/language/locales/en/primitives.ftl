### Words that several parts of the app share.

-here = { PLATFORM() ->
    [mac] this Mac
   *[other] this computer
}

## Numbers with their units

word-percent = { $share } %
word-minutes-seconds = { $minutes } min { $seconds } s
word-seconds = { $seconds } s
word-milliseconds = { $milliseconds } ms
word-parameters = { $count } parameters

## Days

word-weekday = { DATETIME($date, weekday: "short") }
word-day = { DATETIME($date, day: "numeric") } { DATETIME($date, month: "short") }
word-day-and-year = { DATETIME($date, day: "numeric") } { DATETIME($date, month: "short") } { DATETIME($date, year: "numeric") }
word-month = { DATETIME($date, month: "long") }
word-month-and-year = { DATETIME($date, month: "long", year: "numeric") }
word-today = Today
word-yesterday = Yesterday
word-last-seven-days = Last seven days

## What stands between facts in a row, and between sentences

word-comma = { ", " }
word-gap = { " " }

## Speed and drafts

word-per-pass = { $tokens } per pass
word-no-drafts = no drafts
word-accepted = { $share } accepted
word-gain = { $factor }× plain
word-what-drafts-are = Drafts are words that the model guesses ahead. It then checks all of them in one pass and keeps the right ones. A wrong guess takes a little time and never makes the answer worse.
word-drafts-made = drafts: { $makers }
word-drafts-by-head = { $count } by the MTP head
word-drafts-by-dflash = { $count } by DFlash
word-drafts-from-text = { $count } from the text

word-drafting-auto = Auto
word-drafting-off = Off
word-drafting-look-up = Look-up
word-drafting-dflash = DFlash, { $depth }
word-drafts-off = by you
    .why = Drafts are off because you switched them off.
word-drafts-not-paying = not paying here
word-no-draft-model = no draft model
    .why = No draft model is loaded with this model.
word-head-absent = no MTP head
    .why = This model has no MTP head.
    .about = No MTP head.
word-head-stripped = head removed
    .why = The MTP head was removed when this copy of the model was converted.
    .about = The MTP head was removed when this copy was converted.
word-head-unusable = head unusable
    .why = This model's MTP head cannot be used; the model picker says what is wrong with it.
    .about = There is an MTP head, but it cannot be used.
word-guesses-head = Auto guesses with the MTP head.
word-guesses-text = Auto and Look-up guess from the text so far.
word-guesses-text-alone = Its guesses come from the text so far alone.
word-guesses-draft-model = Auto and DFlash guess with its draft model.
word-guesses-of-model = Guesses come from the text so far alone.
    .drafted = Its draft model guesses, or the text so far.
word-mtp-head = MTP head: { $tensors } tensors, { $format }
word-draft-model = Draft model: { $name }, guesses up to { $most } ahead, { $size }

word-note-switched-off = Drafts were switched off.
word-note-no-draft-model = No draft model is loaded with this model.
word-note-no-head = This model has no MTP head to draft with.
word-note-lookup-little = Little of the reply had been in the text before.
word-note-lookup-unpaid = Much of the reply had been in the text before, but to draft it did not pay.
word-note-unpaid = Drafts do not pay here: to draft and check { $drafts } takes { $longer } times as long as a pass without, and yields { $more } times the tokens.
word-note-others-righter = Drafts were held back: those of the replies beside this one are right more often.
word-note-others-slower = Drafts were held back: they would slow down the replies beside this one.

## How tokens are drawn

word-greedy = greedy
word-temperature = temperature { $temperature }

## Controls

word-copied = Copied
word-not-copied = Could not copy
word-number-needed = A number is needed.
word-no-number = “{ $text }” is not a number.
word-whole-numbers = Whole numbers only.
word-at-least = At least { $least }.
word-at-most = At most { $most }.
word-close = Close
    .title = Close (Esc)
word-show-folder = { PLATFORM() ->
    [mac] Show in Finder
   *[other] Show in folder
}

## Names of keys

word-key-control = Ctrl
word-key-shift = Shift
word-key-page-up = Page Up
word-key-page-down = Page Down
