### The palette, in which everything is found by its name, and the list of keys.

palette-name = Go to
palette-field = Go to a chat, or do something
    .label = Chats, commands, models and settings
palette-choices = Choices
palette-nothing = Nothing was found.

## What kind of thing a choice is

palette-chats = Chats
palette-commands = Commands
palette-projects = Projects
palette-prompts = Prompts
palette-models = Models
palette-settings = Settings

## Choices

palette-think = Thinking: { $mode }
palette-summarise = Summarise the older part of this chat
palette-open-project = Project: { $name }
palette-insert-prompt = Prompt: { $name }
palette-use-model = Use { $name }
palette-ask-two = Ask two models: { $first } and { $second }
palette-open-settings = Settings: { $page }

## The list of keys

palette-shortcuts = The palette finds everything by name.
palette-keys-send = Send the message
palette-keys-line = Begin a new line
palette-keys-list = Move through a list
palette-keys-next-area = Next area of the window
palette-keys-previous-area = Previous area of the window
palette-keys-close = Close what is open, or go back to the chat
