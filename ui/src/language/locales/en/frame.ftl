### The frame of the window: its sidebar, its notes, an empty chat and the first start.

## What screen readers are told of a reply

frame-reply-begun = A reply is being written.
frame-reply-interrupted = Reply interrupted.
frame-reply-stopped = Reply stopped.
frame-reply-cut = Reply cut by the token limit.
frame-reply-failed = Reply failed.
frame-reply-finished = Reply finished.
    .speed = Reply finished, { $speed } tokens a second.
    .gain = Reply finished, { $factor } times plain.

## The window

frame-to-project = To the project “{ $name }”
frame-more-for-chat = More for this chat
frame-more-for-project = More for this project
frame-more-for-chats = More for all chats
frame-add-files = Add files
frame-drop = Drop a picture, a text file or a document to attach it, the folder of a model to add it, or a JSON file to import its chats.
frame-drop-project = Drop files to add them to “{ $name }”, or a folder whose files are to be its own too.
frame-undo = Undo
frame-dismiss = Dismiss
frame-settings = Settings
frame-sidebar = Chats and screens
frame-sidebar-width = Width of the sidebar
    .now = { $pixels } pixels
    .hint = Drag to change the width; a double click resets it
frame-minutes-left = { $minutes } min
frame-hours-left = { $hours } h
frame-progress = { $stage }: { $name }
frame-new-chat-keys = New chat ({ $keys })

## An empty chat

frame-temporary = Temporary chat
    .words = Nothing of this chat is stored. It is gone when you leave it, unless you keep it.
frame-new-chat = New chat
frame-stays-here = Nothing you write leaves { -here }.
    .first = Nothing you write leaves { -here }. No account.

## Why nothing can be sent

frame-engine-starting = The engine is starting.
frame-loading = Loading { $model }
    .progress = Weights read
    .words = You can write already. The message goes off when the model is there.
frame-try-again = Try again
frame-load-again = Load again
frame-choose-model = Choose a model

## The first start

# The words in <one> are tinted as a first guess, those in <two> as a second one.
frame-first = <one>Qwen</one><two> on</two> { PLATFORM() ->
    [mac] your<one> Mac</one>
   *[other] this<one> computer</one>
},<one> guessing</one><two> ahead</two>.
    .words = The model guesses the next few words, checks them all in one go, and keeps the right ones. You get the same text, sooner. Tinted words are guesses that were right; a deeper tint is one further ahead.
frame-try = Try it now
    .words = The demo model is tiny, and answers at once.
frame-example-story = Tell me a story about an owl and a bell
frame-example-table = Make a table of four countries
frame-example-prediction = What is multi-token prediction?

## The model to work with

frame-offer = A model to work with
    .get = Get a model to work with
frame-other-models = Other models
frame-download = Download
    .prepared = The download is being prepared.
    .open = Go to the download
frame-coming = It can be used once it is ready.
    .demo = You can go on with the demo model.
frame-is-here = It is on { -here }:
frame-use = Use
    .label = Use: { $name }
frame-use-elsewhere = Use it
    .several = Use them
frame-anything = Get one, or open one that is on { -here } already.
    .demo = The demo model knows short stories, a few facts and sums, and this app. For a real conversation, get a bigger one, or open one that is on { -here } already.
    .get = Get a model
frame-error-details = Details
