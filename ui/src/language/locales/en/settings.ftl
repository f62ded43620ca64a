### The window of the settings.

settings-window = Settings
settings-page =
    .general = General
    .appearance = Appearance
    .replies = Replies
    .models = Models and memory
    .local-api = Local API
    .data = Privacy and data
    .keyboard = Keyboard
    .diagnostics = Diagnostics
    .notices = Third-party notices

## General

settings-language = Language
    .words = German, Chinese and Japanese are machine translations that no native speaker has read yet
    .system = As the system
settings-notifications = Notifications
    .words = Tells of long replies, downloads and conversions that end while you look elsewhere
settings-keep-running = Keep running when the window is closed
    .words =
        { PLATFORM() ->
            [mac] Replies and downloads go on. A click in the Dock brings the window back
           *[other] Replies and downloads go on. Starting Foretoken again brings the window back
        }
settings-quick = Quick question
settings-quick-key = Keys that ask from any program
    .words = They bring up a small panel over what you do. It goes when you turn to something else, and its reply is written on
settings-menu-bar = Show in the menu bar
    .words = What the model does and how fast, from any program
settings-updates = Updates
settings-update-check = Look for new versions
    .words = Asks the server that has them which one is the newest. You are asked before one is installed
    .each-start = At each start
    .weekly = Weekly
    .never = Never
settings-new-versions = New versions
    .look = Look now
    .show = Show…
    .unchecked = Not looked yet
    .newest = You have the newest one, as of { $date }
    .checking = Looking…
    .found = Foretoken { $version } is there

## Appearance

settings-light = Light or dark
    .words = Auto follows the system
    .auto = Auto
    .light = Light
    .dark = Dark
settings-size = Size
    .words = Text and everything around it. { $larger } and { $smaller } do the same
    .value = { $zoom } percent
settings-width = Width of the text
    .words = In a wide window
    .column = Column
    .wide = Wide
settings-guessed = Guessed words
# A sentence as it would be written: each word that was guessed stands in a part that says how far ahead.
settings-sample = The<one> lamps</one><two> along</two><three> the</three> quay<one> came</one><two> on</two> one by one,<one> and</one><two> the</two><three> last</three> boat turned <one>home</one><two>.</two>
    .one = 1 ahead
    .two = 2 ahead
    .three = 3 or more ahead
settings-wake = Tint while a reply is written
    .words = The newest lines, fading as you read
settings-reveal = Keep the tint in all replies
    .words = { $keys } shows and hides it at any time
settings-hue = Colour
    .words = Of everything that was guessed
    .label = Colour of what was guessed
    .violet = Violet
    .teal = Teal
    .orange = Orange
    .pink = Pink
settings-pulse = Pulse beside the numbers
    .words = One column for each pass of the model

## Replies

settings-replies-note = This holds in new chats, and in every other that was not given settings of its own.
settings-mtp =
    .words = How many tokens the model guesses ahead. Auto does what pays
    .label = Drafts per pass
settings-thinking = Thinking
    .words = How much a model that can may think before it answers.
settings-standing = What every chat should know
    .words = Goes before each chat’s own system prompt, from your next message on. A chat can be without it: This chat, in the panel.
    .example = For example: I bake with rye. Metric units. Short answers.
settings-sampling = Choice of words
    .words = Sampling. Each model remembers its own.

## Models and memory

settings-hub-token = Hugging Face token
    .set = Set. It is in the system’s keychain
    .unset = Not set. Only restricted models need one
settings-unload = Give back the model’s memory
    .words = When nobody has asked for a while. The next question loads the model again, which takes as long as at the start
    .never = Never
    .after =
        { $minutes ->
            [one] After a minute
           *[other] After { $minutes } minutes
        }
settings-earlier-turns = Earlier turns
    .words = What was read of a chat is remembered in memory that nobody else needs, and given back when it is scarce. There is nothing to set

## Local API

settings-api = Let other programs on { -here } use the model
    .words-on = Speaks as OpenAI’s and Anthropic’s APIs do. Foretoken keeps running when its window is closed
    .words-off = Speaks as OpenAI’s and Anthropic’s APIs do. Off until you turn it on
settings-api-state =
    .off = Off
    .starting = Starting…
    .on = On at { $address }
    .port-taken = Another program already uses port { $port }
    .port-taken-by = { $name } (process { $pid }) already uses port { $port }
    .take-port = Use port { $port }
    .requests =
        { $count ->
            [one] { $count } request
           *[other] { $count } requests
        }
    .rate = { $rate } tok/s
settings-address = Address
    .words = Programs of Anthropic’s kind leave out /v1
    .copy = Copy the address
settings-network-address = From other devices
    .words = They have to send the token. Nothing on the way is encrypted
    .copy = Copy the address for other devices
settings-copy = Copy
    .done = Copied
settings-api-token = Token
    .in-file = Kept in a file that only you can read
    .in-keychain = Kept in the system’s keychain
    .hidden = hidden
    .copy = Copy the token
    .renew = New
    .renew-label = Make a new token
settings-renew-token = Make a new token?
    .words = The one before stops working, and requests that run now end
    .keep = Keep it
    .sure = Make a new one
settings-snippets = Ready to paste
    .program = Program
    .copy = Copy for { $program }
    .text = Text for { $program }
    .note = Cursor cannot be used: its servers make the call, and they do not reach { -here }.
    .note-token = The token is filled in where it is copied. { settings-snippets.note }
settings-snippet-name =
    .python = { $library } for Python
    .node = { $library } for Node
settings-snippet-place =
    .terminal = In a terminal
    .own-terminal = In the terminal that starts it
    .codex = In ~/.codex/config.toml; the token goes into the variable FORETOKEN_TOKEN
    .zed = In settings.json; Zed asks for the token in its own settings
    .continue = In ~/.continue/config.yaml

settings-requests = Requests
    .now = { $count } now
    .last = Show the last { $count }
    .all = Show all { $count }
    .none = Nothing has been asked since Foretoken was started.
    .table = Requests of other programs
settings-requests-column =
    .time = Time
    .from = From
    .stage = How far
    .rate = tok/s
    .accepted = accepted
    .accepted-of = Share of the guessed tokens
    .stop = Stop
settings-request =
    .now = now
    .waiting = waiting
    .reading = reading { $percent }
    .writing = writing
    .tokens =
        { $count ->
            [one] { $count } token
           *[other] { $count } tokens
        }
    .stop = Stop
    .stop-one = Stop the request of { $program }
    .done = done
    .stopped = stopped
    .left = the program left
    .refused = refused: { $reason }
settings-refusal =
    .too-long = the prompt is too long
    .queue = too many others wait
    .engine = the engine stopped
    .no-model = no model is loaded
    .memory = not enough memory
    .tools = the model calls no tools
    .template = the model’s template refuses it

settings-more = More
settings-port = Port
    .same = It is this port already.
    .range = A port is a number from 1024 to 65535.
    .use = Use this port
settings-needs-token = Ask programs for the token
    .words = Without it, every program on { -here } can use the model. Pages in a browser cannot
settings-network = Other devices in this network
    .words = Phones and computers that have the token can use the model. What they send is not encrypted. By how soon an answer begins and how many tokens were cached, they can tell whether { -here } has read a prompt before, in your chats too. Nothing but leaving this off prevents that
settings-may-load = Let programs load models
    .words = While the window is closed. When you come back, your model is loaded again
settings-rows = Replies at the same time
    .words = More requests wait. Each reply is slower beside others, all together are faster
settings-api-sampling = Sampling
    .words = Where a program says nothing of temperature and the like
    .app = As chosen in the app
    .model = As the model’s makers recommend
settings-origins = Pages that may connect
    .words = Pages in a browser, and apps that are pages, cannot use the model unless they are listed here
    .add = A page’s origin
settings-aliases = Names
    .words = Programs that ask for these get a model that is here. A name that ends in * stands for all that begin so
    .model = The model for { $name }
    .loaded = the loaded model
    .add = A name that programs ask for
    .taken = A model has this name already.
settings-list =
    .add = Add
    .empty = Nothing is typed.
    .there = It is there already.
    .remove = Remove
    .remove-one = Remove { $what }

## Privacy and data

settings-data-note = Everything stays on { -here }. Only searches and downloads of models go to Hugging Face.
    .updates = Everything stays on { -here }. Only searches and downloads of models go to Hugging Face, and the look for new versions to where they are published.
settings-all-chats = All chats
    .words = One JSON file holds everything and can be imported again
    .import = Import…
    .export = Export…
settings-keep-read = Keep what models have read of chats
    .words = A chat goes on at once after a restart. It takes up to 10 GB on { -here } and goes with the chat; switched off, all of it is removed
settings-files = Files
    .reveal = { word-show-folder }: { $place }
settings-place-settings = Settings
    .words = What you have chosen
settings-place-chats = Chats
    .words = Chats, their drafts and their daily copies
settings-place-models = Models
    .words = Models that were downloaded or converted
settings-place-cache = Cache
    .words = What can be made again; it can be deleted at any time
settings-place-log = Log
    .words = What the app and the engine say, of this start and the one before
settings-leaving = Leaving
settings-remove = Remove everything that Foretoken has stored
    .words = Chats, settings, caches and models. Foretoken then quits
    .sizes = { $size } of chats, settings and caches, and { $models } of models. Foretoken then quits
    .ask = Remove…
settings-remove-sheet = Remove everything?
    .words = Chats with their copies, settings, what models have read, measurements, the log and the tokens in the keychain go for good. Export your chats first if you may want them again.
    .models = Remove the models too ({ $size } in { $folder })
    .cancel = Cancel
    .remove = Remove and quit
    .remove-all = Remove all, models too, and quit

## Diagnostics

settings-log = Log
    .copy = Copy the log
    .note = The report and the log hold nothing of any chat.
    .empty = There is nothing to show.
settings-log-level =
    .label = Lines to show
    .error = Errors
    .warn = Errors and warnings
    .info = Everything that matters
    .debug = Everything
settings-report =
    .copy = Copy report
    .unready = The report is not ready yet.
settings-crashes = Crashes
    .words = Your system has written reports about them. They are sent nowhere; the newest is named in the report here

## Third-party notices

settings-notices-note = Foretoken carries what others have made, under these licences.
settings-bill = Bill of materials
    .words = The same as a list for programs, in CycloneDX, with versions and hashes
settings-licence = Licence
    .of = Licence of { $name }
    .text = Text of the licence of { $name }
