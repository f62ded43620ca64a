### The page of the settings about tools: servers, and what they may do.

settings-tools = Tools
    .note = What a model may use beside writing. All of it is off until you switch it on in a chat, at Tools below the message.
settings-sure =
    .cancel = Cancel

## The app’s own

settings-built-in = Built in
    .words = Sums and dates work on { -here } alone and run without a question. Before any other of these tools reads, sends or changes something, you are asked.
settings-tool-calculator = Sums
    .words = Works out sums exactly
settings-tool-date = Date and time
    .words = Tells what day and time it is, and counts days
settings-tool-pages = Web pages
    .words = Reads pages that everybody can reach. You are asked for each site
settings-tool-search = Web search
    .words = Asks the search service that you name in the settings
settings-tool-read-files = Read files
    .words = Lists, reads and searches files in the folders that you pick
settings-tool-write-files = Change files
    .words = Writes text files there. Each change is shown first, and you are asked
settings-own-tool =
    .read-page = Read page
    .search-web = Search the web
    .list-files = List files
    .read-file = Read file
    .search-files = Search files
    .write-file = Write file
    .edit-file = Edit file
settings-own-lack =
    .search = No search service is set.
    .folder = No folder is picked yet.

## What the app’s own reach

settings-web = Web
    .words = Models search with a service of your choice, a SearXNG: your own or one that you trust.
    .search = Address of the search service
    .search-words = What models search for goes there and nowhere else. Leave it empty for no search.
settings-folders = Files
    .words = Models read only what is in these folders. Each change is shown to you first, and you are asked.
    .none = No folder is picked yet.
    .add = Add folder…
    .remove = Remove
    .remove-label = Remove the folder { $name }

## Servers

settings-servers = Servers
    .words = Programs and addresses that offer tools (MCP). You are asked before one of these tools runs.
    .none = There are none yet.
    .add = Add a server
settings-server-state =
    .off = Off
    .stopped = Not running. A chat that uses it starts it
    .starting = Starting…
    .running =
        { $count ->
            [one] Running with { $count } tool
           *[other] Running with { $count } tools
        }
    .failed = Failed
    .signing-in = Waiting for your browser…
    .signed-in = signed in
settings-server-switch = Use { $name }
settings-server-busy = One moment: the last step is not done yet.
settings-server-start = Start
settings-server-try = Try again
settings-server-sign-in = Sign in…
    .label = Sign in to { $name }
settings-server-give-up = Give up
    .label = Give up signing in to { $name }
settings-server-sign-out = Sign out
    .label = Sign out of { $name }
settings-server-edit = Edit
    .label = Edit { $name }
settings-server-remove = Remove…
    .label = Remove { $name }
settings-server-remove-sheet = Remove { $name }?
    .words = What you have allowed it goes too, and so do the values in the keychain.
    .sure = Remove
settings-server-fact =
    .command = Command
    .arguments = Arguments
    .program = Program
    .not-found = Not found on { -here }
    .address = Address
    .variables = Variables
    .headers = Headers
    .values-kept = The values are in the system’s keychain and are not shown
    .folder = Folder
    .own-folder = One of its own
    .none = None
settings-server-tools = Tools
    .words = Nobody has checked what a server says of its tools.
    .unknown = Not known until it has run once.
    .list = Tools of { $name }
settings-tool-claims =
    .reads = says it only reads
    .destroys = may delete or replace
    .keeps = says it deletes and replaces nothing
    .changes = says it changes something
    .reaches = reaches beyond { -here }
    .stays = says it stays on { -here }
    .nothing = says nothing of what it does
settings-server-lines = Last lines that it wrote
    .show = Show the last lines that it wrote
    .again = Read the last lines again
    .none = It has written nothing.

## A server that is written down

settings-server-form =
    .name = Name
    .kind = How it is reached
    .program = Program
    .http = Address
    .command = Command
    .arguments = Arguments
    .arguments-words = One a line, without quotes
    .folder = Folder
    .folder-placeholder = One of its own
    .address = Address
    .words = It stays off until you switch it on. Before that, the system shows you in full what it runs or reaches.
    .cancel = Cancel
    .add = Add
    .save = Save
    .no-name = The server has no name yet.
    .no-command = No program is named yet.
    .no-address = There is no address yet.
    .no-value-name = A value has no name yet.
settings-server-values =
    .variables = Variables
    .headers = Headers
    .name = Name
    .value = Value of { $name }
    .kept = stays as it is
    .add-variable = Add a variable
    .add-header = Add a header
    .words = Values go to the system’s keychain and are never shown again.

## From other programs

settings-servers-import = Take over from other programs
    .words = Their files are read only when you say so, and never changed.
    .from = Take over from { $program }
    .take = Take over
    .take-text = Take over from this text
    .text = Or paste JSON
    .added = Added, all switched off: { $names }.
    .none = Nothing was added.
    .left-out = { $name } was left out. { $why }

## What is allowed

settings-permissions = Allowed
    .words = What you have allowed for longer than one call. A tool that is new or has changed since asks again.
    .none = Nothing.
settings-permission =
    .one = { $tool } of { $server }
    .every = Every tool of { $server }
    .chat = In the chat “{ $chat }”, since { $date }
    .untitled = In one chat, since { $date }
    .everywhere = In every chat, since { $date }
    .revoke = Take back
    .revoke-label = Take back: { $what }
settings-stop-tools = Stop all tools
    .words = Ends calls that run, stops all servers and takes back all that you have allowed
    .ask = Stop all…
settings-stop-tools-sheet = Stop all tools?
    .words = Calls that run are ended; what they were about to do may or may not have happened. All servers stop, and all that you have allowed is taken back.
