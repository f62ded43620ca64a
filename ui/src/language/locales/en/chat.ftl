### The open chat: its page in the panel, what is typed, its files and pictures, the line under a reply, guessing ahead.

chat-replies = Replies
chat-about = about { $count }
chat-standing = What every chat should know
chat-project-knows = What “{ $project }” knows
chat-context = Context
    .used = { $used } of { $of } tokens of the model’s context are used. { $more }
    .about = About { $used } of { $of } tokens of the model’s context are used. { $more }
    .filled = What fills the context: { $share } of it is used.
chat-memory = Memory it takes
    .about = about { $size }
    .tokens = Tokens that it remembers
    .why = This is beside the model’s weights. Where other chats need the room, it is given up, and the next question reads the chat again.
chat-versions = Versions
chat-files = Files

chat-filling = Nothing is dropped until it is full.
    .nearly = The context is nearly full. Nothing is dropped: when it is full, the chat can go on in a new one, behind a summary of its older part.
    .may-end = The next reply may end where the context does. Nothing is dropped; the chat can go on in a new one, behind a summary of its older part.
    .full = The context is full: the model cannot answer in this chat any more. Go on in a new one behind a summary of the older part, or branch from an earlier message.
# In Chinese and Japanese these are characters.
chat-room = Room for about { $words } words more.
    .none = No room is left.
chat-fills =
    .always = What it always knows
    .tools = Tools
    .files = Files
    .messages = Messages
    .free = Free
chat-tokens-used = { $used } of { $of } tokens are used. { $more }
    .about = About { $used } of { $of } tokens are used. { $more }
chat-new = New chat

chat-composer = Message
    .project = Ask in { $project }
    .model = Message { $model }
chat-cannot-send =
    .reading = A file is still being read.
    .ask = Ask something: the parts of the long file that fit the question are read.
    .empty = There is no message to send yet.
chat-send = Send
    .title = Send (Enter)
chat-stop = Stop
    .title = Stop (Esc)
chat-dismiss = Dismiss
chat-attach = Attach files or pictures
    .files = Files: text, code, PDF, Word, Excel
    .pictures = Pictures
    .seeing = Use { $model }, which sees pictures
    .get = Get a model that sees pictures
chat-ask-two = Ask two models
    .too = Ask { $model } too
chat-blind = { $model } cannot see pictures: it is told what they are called. { $reason }
    .nameless = This model cannot see pictures: it is told what they are called. { $reason }
    .get = Get one that can
    .use = Use { $model }
chat-blindness = This model reads text alone.
    .left-out = Its vision tower was left out when it was converted. Convert the source repository again to get it back.
    .not-described = The files hold a vision tower, but the config does not describe it.
    .unusable = Its vision tower cannot be used: { $reason }
    .too-little-memory = There is no memory for its vision tower: with a picture it would need { $needed }, and models may take { $available } here. Choose a smaller model.
chat-temporary-note = Temporary: nothing of this chat is stored. It is gone when you leave it.
    .keep = Keep this chat
chat-second = { $model } answers too when this reply has come.
    .cancel = Cancel
chat-answered-by = This chat was answered by { $model }.
    .demo = This chat was answered by the demo model.
    .again = Use it again
chat-goes-on = The chat goes on here.

chat-conversation = Conversation
    .untitled = New chat
    .latest = ↓ latest
chat-opening = Your chats are being opened.
    .why = The first start after an update takes longer: a copy of all chats is made before they are changed.

chat-more-files = { $count } more files
chat-attached = Attached files
    .long = long: the parts that fit the question are read
    .part = in part
    .reading = being read
    .skip = Do not wait for { $name }
    .skip-title = Do not wait for it
    .take = Take { $name } away
    .take-title = Take away
chat-file-count = { $count } files
chat-file-cost = { $tokens } tokens
    .about = about { $tokens } tokens
chat-too-many-files = More than { $most } files cannot go with one message.
    .hint = Leave some out, or put what belongs together into one file.
chat-files-too-large = The files of one message cannot be larger than { $most } MB together.
    .hint = Leave some out; no model reads as much.
chat-too-many-pictures = More than { $most } pictures cannot go with one message.
    .hint = Leave some out, or send them with several messages.

chat-pictures = Pictures
chat-picture-gone = { $name }, whose file is gone
chat-picture-open = Open { $name }
chat-picture-take = Take { $name } away
    .title = Take away
chat-picture-facts = { $width } × { $height } { $format }, { $size }
chat-picture-cost = { $tokens } tokens
    .named =
        { $name }: { $tokens } tokens, { $detail ->
            [low] Low
            [standard] Standard
            [high] High
           *[original] All
        } detail
    .in-detail =
        { $tokens } tokens in { $detail ->
            [low] low
            [standard] standard
            [high] high
           *[original] all
        } detail
chat-detail =
    .low = Low, at most { 256 } tokens
    .standard = Standard, at most { 1024 } tokens
    .high = High, at most { 4096 } tokens
    .original = All, as much as the model reads
chat-picture-close = Close
    .title = Close (Esc)
chat-picture-place = { $place } of { $all }
chat-picture-copy = Copy
    .gone = Its file is gone.
chat-picture-save = Save…
    .saved = Saved as { $path }.
chat-seen =
    { $pictures ->
        [one] 1 picture
       *[other] { $pictures } pictures
    }, { $tokens } tokens, seen in { $time }
    .remembered =
        { $pictures ->
            [one] 1 picture
           *[other] { $pictures } pictures
        }, { $tokens } tokens, remembered
chat-unseen =
    { $pictures ->
        [one] 1 picture
       *[other] { $pictures } pictures
    } not seen: { $reasons }
    .no-sight = the model reads text alone
    .no-room = no room in the context
    .missing = file gone
    .undecoded = file cannot be read
    .counted = { $reason } ({ $count })
chat-looking =
    { $pictures ->
        [one] Looking at the picture
       *[other] Looking at { $pictures } pictures
    }
    .again = Looking at earlier pictures again

chat-panel = About this reply and this chat
    .hide = Hide the panel
    .show = Show the panel
    .shown = What is shown
    .reply = This reply
    .chat = This chat
    .empty = Once a reply is written, this is where it says how it was made.

chat-how-made = How this reply was made ({ $keys })
chat-waiting = Waiting
    .turn =
        { $ahead ->
            [0] Waiting for its turn
           *[other] Waiting for its turn, { $ahead } before it
        }
    .writing = Writing
chat-reading = Reading { $done } of { $total }
    .prompt = Reading the prompt
    .remembered = { $count } remembered
    .cached = (cached)
    .left = { $time } left

chat-more = More for the reply
    .message = More for your message
chat-answer-again = Answer again with
chat-compare-drafts = Compare with and without drafts
chat-compare-versions = Compare side by side
chat-guesses =
    .show = Show guesses in the text
    .hide = Hide guesses in the text
chat-edit = Edit
chat-read-aloud = Read aloud
    .stop = Stop reading aloud
chat-copy-plain = Copy as plain text
    .empty = There is no text to copy.
chat-branch = Branch into a new chat
chat-delete-from = Delete from here on

chat-mtp = Guess ahead <term>speculative decoding</term>
    .title = Guess ahead: multi-token prediction
    .drafts = Drafts per pass
    .unit = speed against plain, { -here }
    .own-head = With the model’s own head <term>MTP</term>
    .note = A wrong guess costs a little time and never a worse answer. Your choice counts from the next message.
chat-way =
    .auto = As far ahead as it pays
    .off = One word per pass
    .fixed = { $count } ahead
    .dflash = Many ahead at once, by a draft model
    .lookup = Repeats what is in this chat, for quotes and edits
chat-needs-draft = Needs a draft model
    .of = Needs a draft model, { $size }
    .not-loaded = Its draft model is here, but not loaded with it
chat-rule = Which guesses stay
chat-rule-coupled = Same text
    .words = A guess stays where the model draws the same word. The text is the same as without MTP, unless two words are as good as equal: then rounding decides.
chat-rule-strict = To the letter
    .words = The same text also where two words are as good as equal: short passes are filled up so that your Mac rounds alike, as far as it can. A little slower.
chat-rule-rejection = More guesses
    .words = More guesses stay, and every word is as likely as without them. The text differs, with a seed too.

chat-story-plain = Written one word per pass.
    .unpaid = No guesses: they do not pay here.
    .why = Nothing was guessed ahead, so each pass wrote one word (token).
chat-story-wasted = Guessing saved almost no passes here.
    .why = Nearly all of the guesses were wrong, so each pass wrote about one word (token).
chat-story-unmeasured = Each pass wrote { $words } words (tokens).
    .why = Plain decoding writes one. What that gains is not measured on { -here } for replies like this one.
chat-story-measured =
    Plain decoding wrote { $rate } tok/s on { -here } { $source ->
        [tune] when the model was measured
       *[replies] in replies without guesses
    }.
chat-story-gain = { $times } times as fast as without guessing.
    .why = Each pass of the model wrote { $words } words (tokens) instead of one: its own, and the guesses that were right. { $measured }
chat-story-loss = Guessing cost time here: { $times } times plain.
    .none = Guessing made no difference here.
    .why = Each pass wrote { $words } words (tokens), but took longer: its guesses had to be made and checked. { $measured }

chat-pass = In an average pass: one word of its own, { $guesses }; { $all } together.
    .part =
        { $figure } from the { $place ->
            [1] 1st
            [2] 2nd
            [3] 3rd
           *[other] { $place }th
        } guess
    .own = its own
    .place =
        { $place ->
            [1] 1st
            [2] 2nd
            [3] 3rd
           *[other] { $place }th
        }
    .guess =
        { $place ->
            [1] 1st
            [2] 2nd
            [3] 3rd
           *[other] { $place }th
        } guess
    .unit = words<line>per pass</line>
    .caption = Unfilled: guesses that were wrong. The model wrote another word there.

chat-thinking =
    .off = Off
    .brief = Brief
    .normal = Normal
    .long = Long
    .limit = Limit
chat-thinking-reason =
    .no-switch = This model’s chat template has no thinking switch.
    .always = This model’s chat template has no thinking switch: it always thinks, and can only be cut short.
    .no-more = This model thinks as long as it likes, and cannot be asked for more.
chat-thinks =
    .off = It answers at once.
    .little = It is asked to think little.
    .brief = The answer begins after { $tokens } tokens of thinking at the latest, sooner where the context is short.
    .normal = It thinks as long as it likes.
    .much = It is asked to think much.
    .long = It thinks as long as it likes, as with Normal.
    .limit = The answer begins after so many tokens of thinking at the latest.
chat-thinking-label =
    .off = no thinking
    .brief = brief thinking
    .long = long thinking
    .limit = thinking to { $tokens }
