### What models, their jobs and their conversions are, as many places say it.

## Whether a model fits

model-fit-well = Fits well
    .fact = fits well
    .sentence = It needs { $need } for a context of { $context } tokens, and { -here } can give { $available }.
model-fit-tight = Tight
    .fact = tight
    .sentence = It needs { $need } for a context of { $context } tokens, and { -here } can give { $available }. Close other large apps while you use it.
model-fit-too-big = Too big
    .fact = too big
    .numbers = too big: needs { $needs }, { -here } gives { $gives }
    .sentence = It needs { $need } for a context of { $context } tokens, but { -here } can give { $available }.
model-fit-unknown = fit not known
model-missing = Needs { $need }: { $missing } more than { -here } gives
model-recommended = The most able that fits well, with { $spare } to spare

## What a chat of some length holds

model-chat-questions = A few questions and answers
model-chat-document = A long chat, or a document
model-chat-documents = Several documents
model-chat-short-book = A short book
model-chat-book = A book
model-chat-longest = As long as models allow

## What a model is

model-head-with = With MTP head
    .fact = with MTP head
model-head-none = No MTP head
    .fact = no MTP head
model-head-unknown = MTP head not known
model-head-stripped = MTP head: declared but stripped
model-head-unusable = MTP head: there, but it cannot be used
model-head-absent = MTP head: none
model-mtp-stripped = MTP stripped
model-mtp-unusable = MTP unusable
model-mtp-absent = no MTP
model-guesses = guesses up to { $most } ahead
model-guesses-head = guesses up to { $most } ahead (MTP head)
model-sees = sees pictures
model-sees-no-memory = no memory left to see pictures
model-made-for = made for { $model }
model-parameters-active = { $all }, { $active } active
model-download-converted = { $size }, { $converted } as 4-bit
model-choice-offline = Its disk is not connected
model-choice-broken = It cannot be loaded
model-choice-built-in = Came with the app
model-draft-size = about { $size }

## What was measured of its speed

model-tuned = Measured
model-tuned-plain = Fastest without drafts: { $speed } tok/s. Nothing beats plain decoding here.
model-tuned-drafts = Fastest with { $drafts ->
    [one] { $drafts } draft
   *[other] { $drafts } drafts
} ahead: { $speed } tok/s, { $gain }× plain
model-tuned-drafts-alone = Fastest with { $drafts ->
    [one] { $drafts } draft
   *[other] { $drafts } drafts
} ahead: { $speed } tok/s
model-tuned-vocabulary = { $tuned }. Drafts come from the { $tokens } most frequent of { $vocabulary } tokens: { $faster } quicker, { $now } accepted instead of { $before }

model-speed-plain = { $plain } plain
model-speed-both = { $plain } plain, { $guessing } guessing
model-speed-about-plain = about { $plain } plain
model-speed-about-guessing = about { $guessing } guessing
model-speed-range = { $low } to { $high }
model-speed-measured = Measured speed { $speed } tok/s
    .spoken = Measured on { -here }: { $plain } plain, { $guessing } guessing, in tokens per second.
    .spoken-plain = Measured on { -here }: { $plain } plain, in tokens per second.
model-speed-expected = Expected speed { $speed } tok/s
    .spoken = Expected on { -here }, not measured: { $plain } plain, { $guessing } guessing, in tokens per second.
    .spoken-plain = Expected on { -here }, not measured: { $plain } plain, in tokens per second.
model-legend =
    .plain = plain
    .guessing = guessing, tok/s
    .expected = expected on { -here }, tok/s

## When it was used, and where it is

model-used = Used { $date }
model-used-today = Used today
model-used-yesterday = Used yesterday
model-used-never = Not used yet

model-place-library = In the library
model-place-cache = Hugging Face cache
model-place-studio = LM Studio
model-place-folders = Folders you opened
model-place-others = Other models

model-offline = Offline: connect the disk that has { $path }
model-offline-library = Offline: it comes back when the library's disk is connected
model-library-away = The library’s disk is not connected
model-library-offline = The library's disk is not connected.
model-disk-away = “{ $disk }” is not connected
model-comes-back = { $models ->
    [0] The library is on it, and comes back with the disk.
    [one] { $models } model is on it. It comes back with the disk.
   *[other] { $models } models are on it. They come back with the disk.
}

## Why it cannot be deleted

model-kept-in-use = It is in use
model-kept-built-in = It is part of the app
model-kept-cache = It belongs to the Hugging Face cache
model-kept-studio = It belongs to LM Studio

## What a job does, also within a line

model-stage-queued = Waiting its turn
model-stage-held-chat = Waiting for the chat
model-stage-held-memory = Waiting for memory
model-stage-downloading = Downloading
model-stage-paused = Paused
model-stage-waiting = No connection
model-stage-verifying = Checking the files
model-stage-probing = Measuring what each part costs
model-stage-converting = Converting
model-stage-comparing = Comparing with the original
model-stage-tuning = Measuring its speed
model-stage-moving = Moving
model-stage-failed = Stopped
model-stage-done = Ready
model-job-compared = Compared
model-job-measured = Measured

model-held-chat = The speed is measured as soon as no reply is being written and no model is being loaded.
model-held-memory = Together with the loaded model it needs { $need }, and { -here } can give { $available }. Choose a smaller model for the chat, and it goes on by itself.

## How far it is

model-progress = { $done } of { $total }
model-bytes-per-second = { $bytes }/s
model-left-moment = a few seconds left
model-left-seconds = { $seconds } s left
model-left-minutes = { $minutes ->
    [one] { $minutes } minute left
   *[other] { $minutes } minutes left
}
model-left-hours = { $hours } h { $minutes } min left
model-left-days = more than a day left

## What follows, after what is done now

model-then = then { $done }
model-then-checked = checked
model-then-downloaded = downloaded
model-then-measured = measured
model-then-compared = compared
model-then-converted = converted
model-then-moved = moved

## That it has ended, for those who hear it

model-ended = { $name } is ready.
model-ended-measured = { $name } is measured.
model-ended-compared = { $name } is compared with its original.
model-ended-moved = The model library has moved.
model-ended-failed = { $name } has stopped. { $why }

## What follows a download, and what it needs

model-after-converted = The files are checked, then its speed is measured.
model-after-published = The files are checked and stay as they are published, then the speed is measured.
model-after-conversion = The files are checked, the model is converted to { $bits }-bit, and its speed is measured. The original files are then removed.
    .keeping = The files are checked, the model is converted to { $bits }-bit, and its speed is measured. The original files stay too.
model-after-conversion-sized = The files are checked, the model is converted to { $bits }-bit and takes about { $size }, and its speed is measured. The original files are then removed.
    .keeping = The files are checked, the model is converted to { $bits }-bit and takes about { $size }, and its speed is measured. The original files stay too.
model-space-conversion = The conversion will need about { $missing } more than is free.
model-space-download = The download takes { $size }, and { $free } is free. Free some space, or move the library.
model-gone = { $repo } is not on the Hub any more.
    .hint = The model that is here goes on working.

## The models of other programs

model-elsewhere-studio = { $models } models in LM Studio’s folder
model-elsewhere-cache = { $models } models in the Hugging Face cache
model-elsewhere-both = { $studio ->
    [one] { $studio } model
   *[other] { $studio } models
} in LM Studio’s folder, { $cache } in the Hugging Face cache
model-elsewhere-one-studio = { $name } in LM Studio’s folder
model-elsewhere-one-cache = { $name } in the Hugging Face cache

## For which machine a model is offered. $sound is how the chip's name begins: "vowel" or "consonant".

model-for-machine = For { -here }:
    .chip = For { -here }, { $sound ->
        [vowel] an
       *[consonant] a
    } { $chip }:
    .memory = For { -here }, with { $memory }:
    .both = For { -here }, { $sound ->
        [vowel] an
       *[consonant] a
    } { $chip } with { $memory }:

## A conversion

model-convert = Convert
model-convert-sheet = Convert { $name }
model-convert-why = Fewer bits for each weight take less memory and answer faster. The MTP head is kept.
model-convert-then = The converted model is put into the library, and its speed is measured.
    .keeping = The converted model is put into the library, and its speed is measured. The original stays as it is.
model-convert-later = You can choose a size once it is measured.
model-convert-measuring = { $stage }: { $share }
model-convert-looking = Looking for what was measured…
model-convert-here = A model of this size is here already.
model-conversion = Conversion
model-convert-4-bit = Recommended. Small and fast, with little loss
model-convert-8-bit = Twice the size, next to no loss
model-convert-none = None
    .words = As published: the largest and slowest
model-convert-quality = By quality
    .words = Each part gets the bits that it needs. You choose how close
model-keep-original = Keep the original files after the conversion

## What is measured before a size is chosen

model-measure = Measure
model-measure-again = Measure again…
model-measured-on = Measured on: { $text }.
model-measure-first = Measure first
    .words = First it is measured how much each part of the model suffers from fewer bits. Then you choose a size, and each part gets the bits that it needs.
    .takes = Measuring and converting take { $time }, { $memory } of memory and { $disk } on the disk. You can go on chatting, and pause it.
model-measured-text = Text: <name>{ $text }</name>
    .choose = Choose a file…
    .own = Use the program’s own
    .which = A text like those that you work with makes it fit you better: plain text, Markdown or lines of JSON.
    .private = It is read on { -here }, and neither copied nor sent. It must stay where it is until the conversion.
model-about-minutes = { $minutes ->
    [0] less than a minute
    [1] about a minute
   *[other] about { $minutes } minutes
}
model-about-hours = { $hours ->
    [1] about an hour
   *[other] about { $hours } hours
}
model-text-own = The program’s own texts
model-text-replies = The original’s own replies
model-text-file = A file of yours

## A size to choose, and how close it is to the original

model-slider = Size and quality
model-size = { $size }, { $bits } bits per weight
model-size-here = It is here: { $name }
model-memory-left = { $left } left of the { $available } that { -here } gives
model-memory-missing = Needs { $missing } more than { -here } gives
model-speed-beside-4-bit = About { $factor }× the speed of 4-bit, expected
model-measured-closeness = Measured: differs from the original in { $differing ->
    [0] fewer than 1 of 100
   *[other] about { $differing } of 100
} words (KL divergence { $kl })
model-expected-closeness = Expected, not measured. It is compared with the original once it is made
model-then-said = { $before }. { $next }
model-closeness-small = Small
model-closeness-balanced = Balanced
model-closeness-close = Close to original
model-closeness-none = farther than Small

## The evidence of how close a model is

model-quality = Quality
model-evidence = Chooses the same next token as the original { $often } of 100 times, measured on { $tokens } tokens that took no part in choosing.
model-closeness = KL divergence { $kl } nats a token: { $name }
model-kl-least = under 0.000001
model-all-figures = All figures
model-figure-kl = KL divergence
    .words = { $kl } nats a token
model-figure-p99 = 99 of 100 tokens
    .words = below { $kl }
model-figure-perplexity = Perplexity
model-figure-drafts = Drafts accepted
model-figure-text = Text
    .tokens = { $tokens } tokens
model-figure-bits = Bits per weight
model-figure-matrices = Matrices
model-figure-original = original { $value }
model-matrices-bits = { $matrices } in { $bits } bits
model-matrices-whole = { $matrices } not quantized
