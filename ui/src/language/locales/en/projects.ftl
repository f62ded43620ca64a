### Projects: in the list, their pages, and what is asked about them.

## In the list

projects-more = More for “{ $name }”
projects-name-field = Name of the project
    .placeholder = New project
projects-chats =
    { $chats ->
        [one] { $chats } chat
       *[other] { $chats } chats
    }
projects-new-chat = New chat here
projects-show-chats = Show its chats
projects-hide-chats = Hide its chats
projects-add-files = Add files…
projects-rename = Rename
projects-delete = Delete

## The page

projects-knows = What every chat here knows
    .placeholder = What it is about, what has been decided, how answers should be
projects-begins-with = New chats here begin with <settings>{ $settings }</settings>.
projects-keep-settings = Use what is set below
    .title = What is set below the message is where every new chat here begins. Chats that are there keep theirs.
projects-files = Files
    .note = Short files are read whole, and long ones are searched for what fits each question.
projects-tokens = about { $tokens } tokens
projects-tokens-of = about { $tokens } of { $context } tokens
projects-file-remove = Remove
    .label = Remove { $name }
projects-file-reading = being read
projects-file-waiting = waiting
projects-page-add-files = Add files
projects-folder-add = Add a folder
projects-folder-change = Another folder
projects-folder-leave = Leave it out
    .title = Nothing more is read of the folder. It is left as it is.
projects-folders = A project has one folder, and these are { $folders }.
    .hint = Drop the one that is to be it.
projects-page-chats = Chats
    .none = What you ask below begins the first one.
projects-chat-writing = writing
projects-chats-more = Show more

## Moving a chat

projects-move-sheet = Move “{ $title }”
projects-move-choices = Project
projects-move-none = No project
projects-move-new = Or to a new project
    .placeholder = Name of the new project
projects-move-cancel = Cancel
projects-move = Move
    .there = The chat is there already.

## Deleting a project

projects-delete-sheet = Delete “{ $name }”?
projects-delete-cancel = Cancel
projects-delete-with-chats =
    { $chats ->
        [one] Delete with its chat
       *[other] Delete with its { $chats } chats
    }
projects-delete-keep-chats = Keep the chats
projects-delete-words =
    The project{ $files ->
        [0] { "" }
        [one] { " " }and its file
       *[other] { " " }and its files
    } will be deleted. { $chats ->
        [one] Its chat goes back to the list, or is deleted with it.
       *[other] Its chats go back to the list, or are deleted with it.
    } All of it can be brought back until you quit.

## What was done

projects-chat-left = The chat has left its project.
projects-chat-moved = The chat was moved to “{ $name }”.
projects-deleted = “{ $name }” was deleted.
projects-deleted-with-chats =
    “{ $name }” was deleted with { $chats ->
        [one] { $chats } chat
       *[other] { $chats } chats
    }.
projects-deleted-unnamed = The project
projects-files-replaced =
    { $files ->
        [one] A file of the same name was replaced.
       *[other] Files of the same name were replaced.
    }
projects-file-removed = “{ $name }” was removed from the project.
