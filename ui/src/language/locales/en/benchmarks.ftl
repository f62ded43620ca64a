### The Benchmarks screen: what is measured, what was found, over time, and one question with drafts and without.

benchmarks-title = Benchmarks
benchmarks-export = Export all benchmarks
    .as = Export as { $format }…
    .none = There are none yet.
    .done = Exported to { $path }

## The ways to write, and the kinds of text

benchmarks-way =
    .plain = Plain
    .ahead = { $depth } ahead
benchmarks-prose = Prose
    .words = a story, a letter, an explanation
benchmarks-code = Code
    .words = a function, a test, a change to a file
benchmarks-any = All text
    .words = prose and code were not told apart

## What is measured

benchmarks-measure = Measure
    .no-model = No model is here.
    .gone = { $name } is not here any more.
benchmarks-minutes = { $minutes ->
    [0] less than a minute
    [one] about one minute
   *[other] about { $minutes } minutes
}
benchmarks-plan = What to measure
    .texts = What is written
    .both = Prose and code
    .ahead = Guessing ahead
    .ways = Plain decoding against { $head ->
        [yes] 1, 2 and 3 ahead,{ " " }
       *[no] { "" }
    }{ $dflash ->
        [yes] DFlash,{ " " }
       *[no] { "" }
    }Look-up, and Auto
    .prompt = A long prompt
    .prompt-words = How fast it is read, and the memory it takes
    .effort = How long it takes
    .quick = Quick
    .thorough = Thorough
    .note = { $runs } runs of { $tokens } tokens each way{ $texts ->
        [both] , of prose and of code
       *[other] { "" }
    }. It runs while no reply is being written, and the chat goes first.
benchmarks-running = Being measured
benchmarks-model = Model
    .none = No model
    .choose = The model to measure
    .missing = No model is here yet.
    .gone = Only in the history

## What was found

benchmarks-result = Result
benchmarks-earlier = This is an earlier result, of { $time }. <newest>Show the newest</newest>
benchmarks-times = { $low } to { $high }
benchmarks-clause =
    .gains = Guessing makes it { $times } times as fast{ $about ->
        [prose] { " " }for prose
        [code] { " " }for code
        [both] { " " }for prose and for code
       *[any] { "" }
    }
    .plain = Nothing beats plain here{ $about ->
        [prose] { " " }for prose
        [code] { " " }for code
        [both] { " " }for prose and for code
       *[any] { "" }
    }
    .uncertain = Guessing gains nothing here that is certain{ $about ->
        [prose] { " " }for prose
        [code] { " " }for code
        [both] { " " }for prose and for code
       *[any] { "" }
    }
    .alone = Plain decoding writes { $speed } tokens per second here{ $about ->
        [prose] { " " }for prose
        [code] { " " }for code
        [both] { " " }for prose and for code
       *[any] { "" }
    }
    .unmeasured = Plain decoding was not measured{ $about ->
        [prose] { " " }for prose
        [code] { " " }for code
        [both] { " " }for prose and for code
       *[any] { "" }
    }
benchmarks-aside =
    .plain = { $about ->
        [prose] for prose nothing beats plain
       *[code] for code nothing beats plain
    }
    .uncertain = { $about ->
        [prose] for prose guessing gains nothing that is certain
       *[code] for code guessing gains nothing that is certain
    }
    .alone = { $about ->
        [prose] for prose plain decoding alone was measured
       *[code] for code plain decoding alone was measured
    }
    .unmeasured = { $about ->
        [prose] for prose plain decoding was not measured
       *[code] for code plain decoding was not measured
    }
benchmarks-sentence =
    .none = Nothing was measured.
    .one = { $clause }.
    .two = { $clause }; { $aside }.
    .gains = Guessing makes it { $prose } times as fast for prose, and { $code } times for code.
    .gains-up-to = Guessing makes it { $prose } times as fast for prose, and up to { $code } times for code.
    .alone = Plain decoding writes { $prose } tokens per second here for prose, and { $code } for code.
benchmarks-detail =
    .fastest = { $about ->
        [prose] For prose { $names } is fastest.
        [code] For code { $names } is fastest.
        [both] For prose and for code { $names } is fastest.
       *[any] { $names } is fastest.
    }
    .equal = { $about ->
        [prose] For prose { $names } are equally fast: their ranges overlap.
        [code] For code { $names } are equally fast: their ranges overlap.
        [both] For prose and for code { $names } are equally fast: their ranges overlap.
       *[any] { $names } are equally fast: their ranges overlap.
    }
benchmarks-bracket =
    .fastest = fastest
    .equal = equally fast
benchmarks-ranges-note = tok/s, lowest to highest of { $runs ->
    [one] { $runs } run
   *[other] { $runs } runs
}
benchmarks-range = { $low } to { $high } times plain, { $middle } in the middle.
benchmarks-auto = { $about ->
    [prose] Auto, prose: { $note }
    [code] Auto, code: { $note }
    [any] Auto, all text: { $note }
   *[both] Auto: { $note }
}
benchmarks-figures = All figures
    .runs = { $runs ->
        [one] { $runs } run
       *[other] { $runs } runs
    }
benchmarks-prompt-read = Reading a prompt of { $tokens } tokens
benchmarks-peak = Memory at most
benchmarks-loaded = Loaded in
benchmarks-table = Speed by number of guesses
    .guesses = Guesses
    .speed = Tokens/s
    .gain = Against plain
    .pass = Per pass
    .accepted = Accepted by position
benchmarks-notes = { $facts }.
    .place = { $format } on { $processor ->
        [cpu] the CPU
       *[gpu] the GPU
    } of { $place ->
        [here] { -here }
       *[elsewhere] another machine ({ $machine })
    }{ $memory ->
        [eight] , with smaller memory for long chats (8-bit)
       *[full] { "" }
    }
    .runs = { $runs ->
        [one] { $runs } run
       *[other] { $runs } runs
    } of { $tokens } tokens{ $texts ->
        [both] { " " }of each kind of text
       *[one] { "" }
    }
    .strained = measured while it was hot or saved energy: at other times it is faster
benchmarks-unknown-processor = unknown processor
benchmarks-strange =
    .machine = Another machine: { $machine }
    .format = Another format: { $format }
    .results = { $results ->
        [one] One result of another machine or format is in the table only.
       *[other] { $results } results of another machine or format are in the table only.
    }

## Over time

benchmarks-over-time = Over time
benchmarks-nothing = Nothing was measured yet.
    .of-model = { $name } was not measured yet.
    .question = What does guessing gain on { -here }?
benchmarks-plotted = Which benchmarks are plotted
    .full = Usual memory
    .eight = Smaller memory
benchmarks-apart = { $results ->
    [one] One result { $memory ->
        [eight] with smaller memory for long chats (8-bit)
       *[full] with the usual memory
    } is plotted apart.
   *[other] { $results } results { $memory ->
        [eight] with smaller memory for long chats (8-bit)
       *[full] with the usual memory
    } are plotted apart.
}
benchmarks-metric = What is plotted
    .reading = Reading
    .memory = Memory
    .prompt = Prompt
benchmarks-line =
    .same = { $name }: { $value }
    .change = { $name }: from { $from } to { $to }
benchmarks-chart = { $benchmarks ->
    [one] One benchmark
   *[other] { $benchmarks } benchmarks
}{ $memory ->
    [eight] { " " }with smaller memory for long chats (8-bit)
   *[full] { "" }
} { $days ->
    [one] on { $begin }
   *[more] from { $begin } to { $end }
}. { $lines }{ $metric ->
    [memory] { "" }
    [reading] { " " }prompt tokens per second
   *[other] { " " }tokens per second
}.
benchmarks-results = All results
    .measured = Measured
    .show = Show this result
    .eight = Smaller memory (8-bit)
    .unmeasured = not measured
    .delete = Delete
    .delete-one = Delete the result of { $time }
benchmarks-deleted = The result of { $model } of { $time } was deleted.
    .undo = Undo
benchmarks-unreadable = { $lines ->
    [one] One line of the history cannot be read, and stays in the file.
   *[other] { $lines } lines of the history cannot be read, and stay in the file.
}

## One question without drafts and with them

benchmarks-compare =
    .title = Side by side
    .note = One question, with the same settings and seed: first without drafts, then with them. Each is written alone, so that neither slows the other. Nothing is added to a chat.
    .question = A question to compare
    .owl = Tell me a story about an owl and a bell.
    .nothing = There is nothing to ask yet.
    .run = Compare
    .cancel = Cancel
    .progress = The comparison
benchmarks-refused =
    .window = This is done in the main window.
    .comparing = A comparison is running.
    .no-model = No model is ready.
    .no-head = This model has no MTP head to compare with; Auto and Look-up draft from the text.
    .no-draft-model = No draft model is loaded with this model; choose other drafts, or get one on the Models screen.
    .writing = A reply is being written; both texts must be measured alone.
benchmarks-progress =
    .beginning = Beginning
    .reading = Reading the prompt: { $done } of { $total } tokens
    .plain = Writing without drafts: { $tokens } tokens
    .drafted = Writing with drafts: { $tokens } tokens
benchmarks-ratio =
    .short = The replies are too short to tell a speed.
    .faster = With drafts this reply was written { $times } times as fast.
    .slower = With drafts this reply was slower: { $times } times the speed of plain.
    .same = Drafts made no difference to the speed of this reply.
benchmarks-texts =
    .equal = Both texts are equal, token for token.
    .equal-drawn = Both texts are equal, token for token, though their words were drawn.
    .different = The texts differ after { $tokens } equal tokens. With these settings they must be equal: something is wrong.
    .rounded = The texts differ after { $tokens } equal tokens, as they may: your Mac rounds otherwise where it checks guesses, which decides between words that are as good as equal. “{ chat-rule-strict }”, below “{ chat-rule }” in the MTP menu, keeps most texts the same.
    .rounded-strict = The texts differ after { $tokens } equal tokens, as they may: your Mac rounds otherwise where it checks guesses, which decides between words that are as good as equal. “{ chat-rule-strict }” does not reach that far: it holds for shorter chats, and beside fewer others.
    .same-chances = The words differ, as they may: with “{ chat-rule-rejection }” every word is as likely as without drafts, but the words that are drawn are others.
benchmarks-compared =
    .drafts = drafts { $drafts }
    .seed = seed { $seed }
    .once = one measurement each
    .facts = { $facts }. The clock starts with the first token of each; both found the prompt read already.
benchmarks-replay =
    .play = Play
    .again = Play again
    .pause = Pause
    .time = Time
    .end = To the end
    .written = { $here } of { $all } tokens
    .done = { $here } of { $all } tokens, done after { $time }
benchmarks-replay-plain = Without drafts
    .text = The text without drafts
benchmarks-replay-drafted = With drafts
    .text = The text with drafts
