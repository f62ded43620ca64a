### Tools in the chat: calls in a reply, the question before one runs, and which tools a chat may use.

## What is heard

call-announce = Foretoken asks whether a tool may run.
    .paused = The reply rests. Go on, or stop it.

## A call, in a line

call-state =
    .checking = Being checked
    .refused = Not run
    .asking = Waits for your answer
    .allowed = Allowed, waits for your other answers
    .denied = You said no
    .failed = Failed
    .stopped = Stopped
    .timed-out = Took too long
    .unknown = Not known
call-unknown = The app ended while this ran. It may or may not have happened.
call-runs = Running…
    .seconds = Running… { $seconds } s
call-written = Being written…
call-works = A tool is running…
call-steps = { $count ->
    [one] { $count } step
   *[other] { $count } steps
}

## All of a call

call-decision =
    .once = You allowed this once.
    .chat = You allowed this tool in this chat.
    .always = You allowed this tool everywhere.
    .own = This tool runs without a question.
call-arguments = Arguments
    .none = There are no arguments.
    .changed = Arguments, as you changed them
    .written = Arguments, as the model wrote them
call-result = Result
    .none = The tool gave nothing.
    .model = What the model got
    .left-out = { $tokens ->
        [one] { $tokens } token was left out.
       *[other] { $tokens } tokens were left out.
    }
    .picture = A picture that is not shown ({ $kind })
    .picture-name = Picture from the tool
    .unread = The result cannot be shown: { $why }

## The question before a call runs

call-question = Foretoken asks: may <strong>{ $tool }</strong> of <strong>{ $server }</strong> run?
    .own = Foretoken asks: may <strong>{ $tool }</strong> run?
    .plain = Foretoken asks: may { $tool } of { $server } run?
    .own-plain = Foretoken asks: may { $tool } run?
    .shown = { $count ->
        [one] The argument is shown in full. Nothing is hidden in it.
       *[other] All { $count } arguments are shown in full. Nothing is hidden in them.
    }
    .shown-all = All of it is shown. Nothing is hidden.
    .hidden = { $count ->
        [one] { $count } character would not be seen. It is drawn as ⟨U+…⟩.
       *[other] { $count } characters would not be seen. They are drawn as ⟨U+…⟩.
    }
    .edit = Change
    .json = Arguments as JSON
    .editing = The tool gets this instead.
    .leave = Leave as they were
    .no-object = This is no JSON object yet.
    .unseen = The change is not shown yet.
    .allow = Allow once
    .deny = Deny
    .deny-why = Deny, and say why…
    .why = What the model is told, then Enter
    .longer = Always
    .longer-label = Always allow
    .in-chat = This tool, in this chat
    .always = This tool, as it is now, everywhere
    .files-in-chat = This tool in all picked folders, in this chat
    .files-always = This tool in all picked folders, everywhere
    .pages-in-chat = Pages of { $host }, in this chat
    .pages-always = Pages of { $host }, everywhere
    .server = All tools of { $server } in this chat, but those that may delete
    .leak = This chat has read what is yours alone and what strangers wrote, and this sends something out. Look closely, whatever you have allowed before.
    .sent = Your answer is on its way.
call-origin =
    .program = Runs on { -here }:
    .address = Sends to:
    .claims = This tool { $claims }. Nobody has checked that.
    .gone = This server is not set up any more.
    .folder = Folder:
    .no-folder = You have not picked a folder of this name.
    .no-address = There is no address that it could be sent to.
call-change =
    .creates = Creates <code>{ $path }</code>
    .changes = Changes <code>{ $path }</code>
    .waits = What this would change is being looked up…
    .again = Try again
    .none = The text would stay as it is.
    .line = From line { $line }
    .no-end = No line break at the end

## A reply that rests

call-waits = Waiting for you. The model goes on from here.
call-paused = { $count ->
    [one] Used tools for { $count } round.
   *[other] Used tools for { $count } rounds.
}
    .go-on = Go on
    .stop = Stop
call-rests = Answer the question above first.
    .paused = Go on or stop above first.

## Which tools a chat may use

call-tools = Tools
    .title = Tools in this chat
    .servers = Servers
    .no-servers = No server is switched on.
    .untaught = This model was not taught to use tools.
    .anew = Other tools than before: with your next message, the whole chat is read anew.
    .cost = { $tokens ->
        [one] The chosen tools take { $tokens } token of this chat.
       *[other] The chosen tools take { $tokens } tokens of this chat.
    }
    .settings = Settings…
    .gone = Not set up any more
    .off = Switched off in the settings
    .count = { $count ->
        [one] { $state } · { $count } tool
       *[other] { $state } · { $count } tools
    }

## How it was made

call-rounds = Rounds
    .one = Round { $number }
    .why = Replies that use tools are not compared with plain ones.
