### What the app says outside its page.

menu-file = File
menu-edit = Edit
menu-view = View
menu-chat = Chat
menu-window = Window
menu-help = Help
menu-about = About Foretoken
menu-services = Services
menu-hide = Hide Foretoken
menu-hide-others = Hide Others
menu-show-all = Show All
menu-undo = Undo
menu-redo = Redo
menu-cut = Cut
menu-copy = Copy
menu-paste = Paste
menu-select-all = Select All
menu-full-screen = Enter Full Screen
menu-minimize = Minimize
menu-zoom = Zoom
menu-bring-all-to-front = Bring All to Front

bar-open = Open Foretoken
bar-writing = { $model }: { $speed } tok/s
bar-ready = { $model } is ready
bar-given-back = { $model }: its memory is given back
bar-loading = A model is being loaded
bar-starting = Starting
bar-failed = No model can answer

window-settings = Settings
window-progress = Foretoken, { $percent } %

quit-temporary = A temporary chat is open
    .message = Nothing of it is left once Foretoken quits. Keep this chat, in its menu, stores it.
quit-summary = A summary is still being written
    .message = It is lost. The chat is as it was, and can be summarised again.
quit-reply = A reply is still being written
    .message = What is written so far is kept, and can be continued at the next start.
quit-request = Another program is using the model
    .message = What it has asked for ends with Foretoken.
quit-sure = Quit
quit-not = Go on

told-reply-ended = The reply is finished.
told-reply-stopped = The reply has stopped.
told-reply-asks = The reply waits for your answer.
told-benchmark = { $name } is measured
    .message = The Benchmarks screen shows how fast it is.
told-probe = { $name } is measured
    .message = Choose a size for its conversion.
told-comparison = { $name } is compared with its original
    .message = Its details say how close it is.
told-move = The model library has moved
    .message = It is in { $path } now.
told-ready = { $name } is ready
    .message = It can be used now.
told-failed = { $name } has stopped
told-going-on = Foretoken keeps running
    .message = { PLATFORM() ->
        [mac] Other programs can use its model while the local API is on. Quit it from the Dock or with ⌘Q.
       *[other] Other programs can use its model while the local API is on. Open Foretoken again to get its window back.
    }

dialog-attach-files = Attach files
dialog-attach-pictures = Attach pictures
    .kind = Pictures
dialog-export = Export
dialog-export-benchmarks = Export the benchmarks
    .file = Foretoken benchmarks
dialog-export-prompts = Export prompts
    .file = Foretoken prompts
dialog-import-chats = Import chats
    .kind = Chats
dialog-import-prompts = Import prompts
    .kind = Prompts
dialog-library-folder = Choose a folder for the model library
dialog-model-folder = Open a model folder
dialog-project-files = Add files to the project
dialog-project-folder = Choose a folder for the project
dialog-tool-folder = Choose a folder whose files models may have
dialog-save-picture = Save picture
dialog-measure-text = Choose a text to measure on

tool-server = Switch on “{ $name }”?
    .program = This program will run with all that you may do on this machine, whenever a chat uses it:
    .arguments = Arguments:
    .variables = Environment variables:
    .folder = Folder:
    .address = What models write for its tools will be sent to this address:
    .headers = Headers:
    .agree = Switch on
    .disagree = Leave off

tool-sign-in = Sign in to “{ $name }”?
    .address = Your browser will open this page. What the server grants stays in the system’s keychain.
    .tokens = What the browser brings back goes to:
    .lang = en
    .agree = Open browser
    .disagree = Not now
    .done = You are signed in. You can close this window and go back to Foretoken.
    .not-done = Signing in did not succeed. Foretoken says why.

chat-temporary = Temporary chat
chat-file = Chat
project-new = New project

job-measured = Choose a size under Convert… in the menu of the model.
job-compared = The details of the model say how close it is to its original.
job-source-stays = The original is in use and was kept. Delete it below when you no longer need it.
job-name-taken = It was not converted: a model of that name is being made of another one.

summary-converted-with-head = Converted by others, with its MTP head
summary-converted-without-head = Converted by others, without an MTP head
summary-experts = Knows as much as a large model, answers as fast as a small one
summary-small = Short questions, summaries, small tasks
summary-middle = Everyday questions and writing
summary-large = The most careful answers, and slower ones

folder-first-files = Only the first { $count } files of the folder are read.
folder-closed = { $others ->
    [0] { $path } cannot be looked into. What was read there before is kept.
    [one] { $path } and one other cannot be looked into. What was read there before is kept.
   *[other] { $path } and { $others } others cannot be looked into. What was read there before is kept.
}
