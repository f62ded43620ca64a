### The list of chats, what is found and deleted in it, and what goes to and comes from files.

## The list

chats-list = Chats
chats-unnamed = Without a name
chats-heading-pinned = Pinned
chats-heading-projects = Projects
chats-new-project = New project
chats-drag-into = Into “{ $name }”
chats-drag-out = Out of its project
chats-more = More for “{ $title }”
chats-writing = A reply is being written
chats-failed = The last reply failed
chats-unseen = A reply that you have not seen
chats-name-field = Name of the chat
    .placeholder = Named by its first message

## What can be done with a chat

chats-export-markdown = Export as Markdown…
chats-export-html = Export as HTML…
chats-export-json = Export as JSON…
chats-print = Print…
chats-keep-temporary = Keep this chat
chats-open-window = Open in a new window
chats-show-in-main = Show in the main window
chats-rename = Rename
chats-pin = Pin
chats-unpin = Unpin
chats-tags = Tags…
chats-move = Move to a project…
chats-take-out = Take out of its project
chats-delete = Delete

## Tags

chats-tags-sheet = Tags of “{ $title }”
chats-tags-cancel = Cancel
chats-tags-keep = Keep
chats-tags-field = Tags, with commas between them
    .placeholder = work, stories
chats-tags-known = Tags of other chats
chats-tag-filter = Chats to list
chats-tag-filter-all = All chats

## Search

chats-search = Search
    .label = Search all chats
chats-search-results = What was found
chats-search-filters = Places to show
chats-search-all = All
chats-search-week = This week
chats-search-pinned = Pinned
chats-search-tagged = With the tag { $tag }
# How many places a filter leaves; $shown is that number as it is shown. The unit is only heard.
chats-search-places =
    <number>{ $shown }</number><unit>{ $places ->
        [one] { " " }place
       *[other] { " " }places
    }</unit>
chats-search-in-chat = Places in “{ $title }”
chats-search-more-in-chat =
    { $places ->
        [one] { $places } more place
       *[other] { $places } more places
    } in this chat
chats-search-elsewhere =
    { $places ->
        [one] There is { $places } more place
       *[other] There are { $places } more places
    } in other chats. Add a word to narrow it down.
chats-search-elsewhere-capped =
    { $places ->
        [one] There is { $places } more place
       *[other] There are { $places } more places
    } in other chats. Only the newest 2,000 matches were looked at. Add a word to narrow it down.
chats-search-capped = Only the newest 2,000 matches were looked at. Add a word to narrow it down.
chats-search-found =
    { $places ->
        [one] { $places } place
       *[other] { $places } places
    } found, in { $chats ->
        [one] { $chats } chat
       *[other] { $chats } chats
    }
chats-search-found-capped =
    { $places } and more { $places ->
        [one] place
       *[other] places
    } found, in { $chats ->
        [one] { $chats } chat
       *[other] { $chats } chats
    }
chats-search-nothing = Nothing found
chats-search-none = No chat has “{ $query }”
chats-search-none-pinned = No pinned chat has “{ $query }”
chats-search-none-week = No chat of this week has “{ $query }”
chats-search-none-tagged = No chat with the tag { $tag } has “{ $query }”
chats-search-searched =
    { $messages ->
        [one] { $messages } message was searched.
       *[other] { $messages } messages were searched.
    }
chats-search-searched-files =
    { $messages ->
        [one] { $messages } message
       *[other] { $messages } messages
    } and { $files ->
        [one] { $files } file
       *[other] { $files } files
    } were searched.
chats-search-keys-move = ↑ ↓ move
chats-search-keys-open = ⏎ open
chats-search-keys-leave = esc leave

## What was deleted

chats-message-deleted = The message was deleted.
chats-chat-deleted = The chat was deleted.
chats-named-deleted = “{ $title }” was deleted.
chats-deletions = Deleted
    .title = Deleted chats, messages, projects and presets
    .note = All of it can be brought back until you quit.
chats-deletions-preset = Preset
chats-deletions-project = Project
chats-deletions-project-chats =
    Project with { $chats ->
        [one] { $chats } chat
       *[other] { $chats } chats
    }
chats-deletions-chat = Chat
chats-deletions-message = Message in “{ $chat }”
chats-deletions-no-text = Without text
chats-bring-back = Bring back
    .label = Bring back “{ $name }”

## Into files and out of them

chats-export-sheet = Export with pictures?
chats-export-size = The pictures take about { $size }.
chats-export-cancel = Cancel
chats-export-now = Export
chats-export-choices = What becomes of the pictures
chats-export-stripped = Pictures without place and camera
    .words = What their files tell of where, when and with what they were taken stays out.
chats-export-unchanged = Pictures as they are
    .words = The files, byte for byte.
chats-export-shown = Pictures as they are shown here
    .words = Within the file; of where, when and with what they were taken it tells nothing.
chats-export-left-out = No pictures
    .words = Their names alone.
chats-exported = Exported to { $path }
chats-exported-views =
    { $pictures ->
        [one] { $pictures } picture
       *[other] { $pictures } pictures
    } as a smaller copy, without what its file tells.
chats-exported-missing =
    { $pictures ->
        [one] { $pictures } picture
       *[other] { $pictures } pictures
    } missing: the file is gone.
chats-imported =
    { $chats ->
        [one] { $chats } chat
       *[other] { $chats } chats
    } with { $messages ->
        [one] { $messages } message
       *[other] { $messages } messages
    } added{ $files ->
        [1] { "" }
       *[other] { " " }from { $files } files
    }.{ $leftOut ->
        [0] { "" }
        [one] { " " }{ $leftOut } piece without a place here, such as images, left out.
       *[other] { " " }{ $leftOut } pieces without a place here, such as images, left out.
    }{ $missing ->
        [0] { "" }
        [one] { " " }{ $missing } picture missing: not in the file, or damaged.
       *[other] { " " }{ $missing } pictures missing: not in the file, or damaged.
    }
chats-not-imported =
    { $files ->
        [one] { $files } more file
       *[other] { $files } more files
    } could not be imported either.

## Chats that cannot be opened

chats-trouble-corrupt = The chats are damaged
chats-trouble = The chats could not be opened
chats-trouble-restore = Restore the copy of { $date }
chats-trouble-newer = The copy has { $size }. The newer file is kept beside it, so nothing is thrown away.
chats-trouble-damaged = The copy has { $size }. The damaged file is kept beside it, so nothing is thrown away.
