### A question and a reply, what is known of them, their versions, and how replies are written.

## Buttons of a question, a reply and a summary

reply-copy = Copy
reply-edit = Edit
    .continue = Continue editing
    .cancel = Cancel
reply-edited = Edited

## A question

reply-question = You
    .message = Your message
    .pictures = Add pictures
    .picture-read = A picture is still being read.
    .empty = There is no message to send yet.
    .kept = The earlier version is kept.
    .send = Send

## A reply

reply-name = Reply
reply-continue = Continue
    .broken = Go on from here
reply-again = Again
    .broken = Try again
reply-interrupted = The reply was interrupted before it was finished.
reply-failed = The reply failed, and no reason was given.
    .hint = Try again.
reply-kept = { $words ->
    [0] What was written above is kept.
    [one] The word above is kept.
   *[other] The { $words } words above are kept.
}
reply-stopped = Stopped
    .tokens = Stopped at { $tokens } tokens
    .longest = Stopped at the longest reply
reply-sources = Sources
    .close = Close

## The form of a reply or a summary

reply-form = The reply
    .summary = The summary
    .empty = The reply would be empty.
    .summary-empty = The summary would be empty.
    .unchanged = Nothing is changed yet.
    .goes-on = The model goes on from your text. Its own is kept beside it.
    .save = Save

## What the model thought

reply-thinking = Thinking…
    .seconds = Thinking… { $seconds } s
    .unfinished = Thinking, not finished
    .answer-now = Answer now
    .answer-now-why = Ends the thinking; the answer is written with what is thought so far.
reply-thought = Thought for { $seconds } s
    .brief = Thought for less than a second
    .unknown = Thought before answering
reply-thought-cut = Thought for { $seconds } s, up to its limit
    .brief = Thought for less than a second, up to its limit
    .unknown = Thought before answering, up to its limit

## How a reply was made

reply-page-compare = Compare with plain
reply-page-copy = Copy as JSON
reply-page-auto = Use Auto
reply-page-measure = Measure
reply-page-speed = Speed as it went on
    .tokens = Tokens
    .passes = Passes
    .first = First token after
    .thinking = While it thought
    .answer = While it answered
    .plain = Plain decoding
    .beside = Beside other replies
    .beside-passes = { $shared } of { $steps } passes
reply-page-guesses = Guesses, by place
    .share = { $share } accepted
    .draft-model = Drafts from DFlash
    .text = Drafts from the text
    .accepted = { $accepted } of { $drafted } accepted
reply-page-parts = Thinking and answer
reply-page-time = Where the time went
reply-page-prompt = The prompt
    .tokens = { $tokens } tokens
    .cached = Remembered
    .fresh = Read anew
    .pictures = Pictures
    .context = Context at the end
    .unseen = { $unseen }.
reply-page-memory = Memory
    .most = The most that the engine held since this reply, or one written beside it, was begun: the model, its chats, and what was computed in passing.
    .chat = For this chat
    .about = about { $bytes }
reply-page-settings = Settings of this reply
    .sampling = Sampling
    .seed = Seed
    .again = With this seed again
    .again-same = the same words, where the prompt is read alike
    .again-alike = words as likely, perhaps others
    .model = Model
    .build = Build
reply-page-reveal = Show guesses in the text
    .key = Words that were guessed
reply-ahead = { $place } ahead
    .more = { $place } or more ahead

## Charts of a reply

reply-position = Position { $place }: { $accepted } of { $drafted } drafts accepted, { $share } percent.
    .count = { $accepted } of { $drafted }
reply-depth = Drafts per pass over time
    .range = { $first } to { $last }
    .words = Drafts per pass over { $steps } passes: { $first } at the beginning, { $last } at the end, between { $least } and { $most }.
reply-parts-thinking = Thinking
reply-parts-answer = Answer
reply-parts-tokens = tokens
reply-parts-passes = passes
reply-parts-per-pass = per pass
reply-parts-accepted = accepted
    .none = no drafts
reply-time = Decoding took { $time }: { $parts }.
    .draft = draft
    .verify = verify
    .sample = sample
    .other = other

## A summary

reply-summary = Summary of what was said before
    .whole = Show the whole chat
    .by = Written by { $model }
reply-summarise = Summarise the older part
    .title = In a new chat. This one stays as it is.
    .title-temporary = In a new chat. This one closes, as temporary chats do.
    .running = The summary is being written.
    .done = The summary is written. Its chat goes on in a new one.
reply-summarising = Summarising the older part
    .part = Summarising part { $part } of { $of }
    .hint = The chat goes on in a new one, with the latest messages as they are. This one stays as it is.
    .hint-temporary = The chat goes on in a new one, with the latest messages as they are. This one closes, as temporary chats do.
    .stop = Stop

## Versions

reply-versions = Versions
    .at = { $at } of { $of }
    .earlier = Earlier version
    .later = Later version
    .no-earlier = There is no earlier version.
    .no-later = There is no later version.
    .none = none
    .of-one = { $role ->
        [user] { $count } of one question
        [assistant] { $count } of one reply
       *[other] { $count } of one message
    }
    .of-several = { $role ->
        [user] of { $count } questions
        [assistant] of { $count } replies
       *[other] of { $count } messages
    }
reply-side-by-side = Side by side
    .stop = Stop
    .back = Back to the chat
    .back-esc = Back to the chat (Esc)
    .keep = Keep this one
    .left = Version on the left
    .right = Version on the right
reply-version = Version { $version }
    .of = Version { $version } of { $of }

## Messages that wait

reply-waiting = Messages that wait
    .until = Sent when the reply is finished:
    .held = { $why } These are not sent yet:
    .send = Send now
    .edit = Edit
    .drop = Do not send it
    .files = { $count } files
    .dropped = The message will not be sent.
reply-held-ended = The reply has ended.
reply-held-stopped = The reply was stopped.
reply-held-unfinished = The reply was not finished.

## How replies are written

reply-settings = Replies in this chat
reply-settings-words = Choice of words
    .term = sampling
reply-settings-thinking = Thinking
reply-settings-system = What it should always know
    .term = system prompt
    .label = System prompt
    .placeholder = Who you are, what you like, how it should write
reply-scope = These settings are for
    .label = What the controls below the message are for
    .all = All chats
    .all-words = MTP, sampling and thinking change in all chats that have no settings of their own.
    .this = This chat
    .this-words = MTP, sampling and thinking change in this chat alone.
reply-label = Standard
    .greedy = Greedy
    .sampled = Sampled
    .length = other length
    .system-prompt = system prompt
    .changes = { $count } changes
reply-thinking-choice = Thinking
    .longest = Longest thinking
reply-in-tokens = In tokens

## Presets

reply-preset = Preset
    .standard = Standard
reply-preset-keep = Keep as a preset
    .update = Update “{ $name }”
    .delete = Delete
    .name = Name of a new preset
    .no-name = The preset has no name yet.
    .keep = Keep
reply-preset-chosen = “{ $name }” has replaced this chat's system prompt and settings.
    .standard = The model's own values have replaced this chat's system prompt and settings.
    .back = The earlier system prompt and settings are back.
reply-preset-updated = “{ $name }” was updated.
reply-preset-deleted = “{ $name }” was deleted.

## Sampling

reply-sampling = How words are chosen
    .model = Model’s own
    .greedy = Greedy
    .greedy-words = The most likely word always wins, so the same question gets the same answer.
    .own = Own
    .own-words = Words are drawn by their likelihood, within these limits.
reply-seed = seed { $seed }
    .new = a new seed each time
reply-temperature = Temperature
    .words = Higher is freer
reply-top-p = Top-p
    .words = 1 keeps all
reply-top-k = Top-k
    .words = 0 keeps all
reply-min-p = Min-p
    .words = 0 is off
reply-xtc-chance = XTC chance
    .words = How often top choices go
reply-xtc-threshold = XTC threshold
    .words = Top choices are likelier
reply-longest = Longest reply
reply-own-seed = Seed
    .words = Same seed, same text
    .empty = new each time

## Notes

reply-temporary-left = The temporary chat is closed. Nothing of it is kept.
reply-pasted-large = { $name } is larger than { $megabytes } MB, which is too much to paste.
reply-pasted-all-large = These files together are larger than { $megabytes } MB, which is too much to paste.
    .hint = Choose them with the button, or drop them on the window.
reply-pasted-unread = { $name } cannot be read.
reply-pasted-instead = Choose it with the button, or drop it on the window.
