### The library of models, what is got for it and how.

## What several places say

models-action-of = { $action }: { $name }
models-more-for = More for { $name }
models-try-again = Try again
models-get = Get
models-use = Use
models-delete = Delete
models-remove-from-list = Remove from the list
models-add-folder = Add a folder…
models-is-offline = It is offline

## The screen

models-title = Models
models-here = On { -here }
models-more = More about models
models-check-updates = Check for updates
models-search-shown = The search is shown
models-get-models = Get models
models-storage = Storage, memory and access

## How long a chat is

models-context = Fit for chats of { $length }
    .title = What fit is judged for
    .hint = How long a chat the verdicts are for
    .length = Length of a chat
    .note = A longer chat takes more memory. Whether a model fits, and which one is recommended, is judged for a chat of this length. It sets no limit.
models-context-tokens = { $tokens } tokens

## Models on this machine

models-count = { $models ->
    [one] { $models } model
   *[other] { $models } models
}
models-count-drafts = { $models ->
    [one] { $drafts ->
        [one] { $models } model and a draft model
       *[other] { $models } model and { $drafts } draft models
    }
   *[other] { $drafts ->
        [one] { $models } models and a draft model
       *[other] { $models } models and { $drafts } draft models
    }
}
models-free = { $size } free
models-only-demo = Only the demo model is here, and it is tiny. Get a bigger one below, or add the folder of a model that you have.
models-none = No model is here yet. Get one below, or add the folder of a model that you have.
models-deleted = Deleted models
models-deleted-model = { $name } is deleted. Its { $size } are freed when you quit.
    .undo = Undo
    .bring-back = Undo: bring back { $name }
models-in-use = in use
models-lost-head = This conversion lost its head.
    .get = Get one with it
models-unusable-head = Its MTP head is there, but it cannot be used.
models-newer = A newer version is on the Hub. <look>Look at it</look>
models-loading-share = Loading { $share }
models-use-anyway = Use anyway

## What else can be done with one

models-is-broken = It is broken
models-details-open = Details…
models-convert = Convert…
    .done = It is converted already
models-measure = Measure
    .again = Measure again
    .no-head = It has no MTP head to measure
models-delete-with-draft = Delete with its draft model

## All that is known of a model

models-not-known = Not known
models-verdict = { $verdict }. { $why }
models-summary = { $summary }.
models-size = { $size }, { $parameters }
models-not-measured = Not yet
models-speed-expected = { $speed }, tokens per second; expected, not measured
models-too-little-known = Too little is known to tell
models-see-card = See the model card
models-fact-fit = Fit
models-fact-size = Size
models-fact-format = Format
models-fact-drafts = Drafts
models-fact-measured = Measured
models-fact-use = Use
models-fact-from = From
models-fact-folder = Folder
models-fact-download = Download
models-fact-pictures = Pictures
models-fact-speed = Speed
models-fact-licence = Licence
models-quality = Quality
    .words = It seems to be made from { $original }. How close it is can be measured: both read the same texts. That takes minutes, and neither has to fit in memory.
    .compare = Compare with the original
    .running = It is being compared.

## Draft models

models-draft-of = Draft model of { $name }
models-draft = Draft model: { $name }
    .none = Draft model: none yet
models-lonely-drafts = Draft models without their model
models-newer-draft = A newer version is on the Hub. <get>Get it</get>
models-draft-not-used = Not used: the other draft model suits it better.
models-draft-refused = Its draft model cannot be used, so it goes without: { $reason }
models-draft-waits = It is used as soon as no reply is being written.
models-draft-offer = { $name } is a small model that guesses several words ahead for this one to check. Where that pays, replies come sooner.

## The model picker

models-picker = Model
    .none = Choose a model
    .loading = Loading { $name } · { $share }
    .get-more = Get more models…
    .open-folder = Open a folder…
models-loaded = { $processor ->
    [cpu] { $parameters }, { $format }, { $size } on the CPU
   *[gpu] { $parameters }, { $format }, { $size } on the GPU
}
    .given-back = Its memory is given back. It loads when you ask

## What is being worked on

models-jobs = Coming
models-job-pause = Pause
models-job-resume = Resume
models-job-retry = Try again
models-job-hurry = Try now
models-job-fetch-again = Fetch it again
models-job-up = Move up
    .none = It is the first
models-job-down = Move down
    .none = It is the last
models-job-cancel = Cancel
    .asking = Cancel…
models-job-dismiss = Dismiss
models-job-skip = Skip
models-job-files = { $arrived } of { $all } files
    .label = Files
models-job-waits = What arrived is kept. The next try is in { $seconds } s.
    .now = What arrived is kept. Trying again.
models-cancel = Cancel { $name }
    .download = The files of { $name } that arrived are removed. To keep them and go on later, pause it.
    .work = What was done for { $name } so far is given up. The originals stay.
    .download-now = Cancel the download
    .work-now = Cancel it
    .keep = Go on

## Models to get

models-recommended = Recommended for { -here }
models-found-heading = On Hugging Face
models-list = The list is being fetched.
    .empty = The list of models is empty.
models-end-search = Back to the recommended models
models-found = { $count ->
    [one] One model was found.
   *[other] { $count } models were found.
}
    .searching = Searching…
    .failed = The search failed.
    .none = Nothing was found that Foretoken runs.
    .advice = Try fewer words or fewer filters, or the whole name as organisation/name.
models-details = Details
models-offline = offline
models-here-already = here already
models-search = Search
    .hub = Search Hugging Face
models-filter-mtp = With MTP head
models-filter-fitting = Runs on { -here }
models-filter-format = Format
    .any = Any format
    .published = As published
    .converted = Converted
    .bits = Converted, { $bits }-bit
models-filter-size = Largest download
    .any = Any size
    .up-to = Up to { $size } GB

## How one is got

models-conversion = Conversion
    .judged = Whether it fits is judged at 4-bit; this choice needs more memory.
models-afterwards = After the download
models-in-queue = In the queue: { LOWER($stage) }
models-is-here = It is here already.
models-download = Download
    .newer = Download the newer version
    .anyway = Download anyway
    .starting = The download is being prepared.
models-card = Model card
    .heading = What its makers say
    .fetching = The model card is being fetched.
    .none = There is no model card.

## What goes wrong

models-dismiss = Dismiss
models-access = Copy address
    .open = Open <address>{ $address }</address> in your browser, and ask for access.
    .token = Make a token with read access in your Hugging Face account, and set it here.
    .again = Try again once you have access.

## Storage, memory and access

models-place = Library folder
    .space = { $used } of models, { $free } free
    .away = Offline: its disk is not connected
    .change = Change…
models-move = Keep models in <path>{ $path }</path>? The { $used } that are in the library are moved there. If the folder holds a library already, that one is used.
    .away = Keep models in <path>{ $path }</path>? The models on the disk that is not connected stay there. If the folder holds a library already, that one is used.
    .preparing = The move is being prepared.
    .now = Use this folder
    .leave = Leave it
models-another-place = Use another folder…
models-disk-full = The disk is almost full: { $free } free
    .hint = Downloads stop until there is room. Delete a model and quit, free space elsewhere, or keep the library on another disk.
models-smaller-memory = Smaller memory for long chats (8-bit)
    .words = What a chat takes in memory grows about half as fast. Replies may differ a little from those in full precision. The model is loaded again when you change this.
models-token = Hugging Face token
    .set = Set. It is in the system's keychain.
    .not-set = Not set. Only models with restricted access need one.
    .remove = Remove
    .open-set = Set a token…
    .open-replace = Replace the token…
    .keeping = The token is being kept.
    .empty = There is no token to keep yet.
    .note = It goes to the system's keychain, is sent only to the Hub, and is not shown again.
    .keep = Keep the token

## How the Hub is reached

models-hub-address = Address of the Hub
    .note = Of a mirror, for example. Searches and downloads go there, and your token too. Empty: the usual one.
    .from-variable = { $address }, from HF_ENDPOINT
models-hub-proxy = Proxy
    .note = Searches, downloads and the search for new versions go through it. Empty: as your system has it.
    .system = As your system has it
    .from-variable = The one in the variable { $variable }
models-hub-cache = Hugging Face cache
    .note = Models in it are used where they are. Empty: where the Hugging Face libraries keep it.
    .none = None
models-hub-change = Change…
models-hub-keep = Use this address
    .usual = Use the usual one
    .keeping = It is being kept.
    .same = Nothing has changed.
models-hub-keep-folder = Use this folder
    .usual = Use the usual one

models-note-tied-head = The files hold an output head that the model does not use. It is left out.
models-note-no-part = { $file } is no part of the model. It is left out.
models-note-undeclared = The config says nothing of quantization; the tensors say { $format }.
models-note-draft-vocabulary = Drafts are chosen from all tokens: { $file } cannot be used.
models-note-head-unused = Its MTP head is not used: { $reason }
models-note-head-missing = The MTP head that the config names, { $file }, is not there.
models-note-second-head = There is an MTP head already, so { $file } is left out.
    .main = The main files hold an MTP head already, so { $file } is left out.
models-note-head-file-unused = The MTP head in { $file } is not used: { $reason }
models-note-head-norms = How the norms of its MTP head are stored is decided by their values.
models-note-head-undeclared = The config does not declare the MTP head that the files hold. It is used.
models-note-head-stripped = The config declares an MTP head, but a conversion has removed it, so the model writes one token per pass. Convert the source repository again to get it back.
models-note-draft-target = Its draft model was made for a model of { $told } layers; this one has { $layers }.
