### The person's prompts: the page of the settings, and the list above a message.

prompts-page = Prompts
    .note = Type / at the beginning of a message to choose one. What stands in { "{{double braces}}" } is filled in there: Tab goes from one to the next. The text on your clipboard takes the place of { "{{clipboard}}" }.
prompts-deleted = “{ $name }” is deleted.
    .undo = Undo
prompts-none = There are no prompts yet
    .words = Four to begin with: summarise, rewrite, translate, explain code
prompts-add-examples = Add examples
prompts-edit = Edit
    .label = Edit { $name }
prompts-delete = Delete
    .label = Delete { $name }
prompts-add = Add a prompt
prompts-import = Import…
prompts-export = Export…
    .none = There are no prompts to export.

## A prompt that is being written

prompts-form = Prompt
    .new = New prompt
    .no-name = The prompt has no name yet.
    .no-text = The prompt has no text yet.
prompts-name = Name
prompts-description = Description
    .placeholder = What it is for, if you like
prompts-text = Text
    .placeholder = Translate the text below into { "{{language}}" }.
prompts-cancel = Cancel
prompts-save = Save

## Above a message that begins with a slash

prompts-list = Prompts
    .none = Texts that you keep as prompts are offered here.
    .open = Prompts…

## Prompts to begin with. What stands in double braces is filled in by whoever uses them.

prompts-example-summarise = Summarise
    .description = The main points of a text
    .text =
        Summarise the text below in { "{{number}}" } points, one sentence each. Leave out what is not in it.

        { "{{text}}" }
prompts-example-rewrite = Rewrite
    .description = The same in other words
    .text =
        Rewrite the text below so that it is { "{{clear and friendly}}" }. Keep its meaning and its facts.

        { "{{text}}" }
prompts-example-translate = Translate
    .description = Into another language
    .text =
        Translate the text below into { "{{language}}" }. Give the translation alone.

        { "{{text}}" }
prompts-example-explain = Explain code
    .description = What it does and what could go wrong
    .text =
        Explain step by step what this code does, and name what could go wrong with it.

        ```
        { "{{code}}" }
        ```
