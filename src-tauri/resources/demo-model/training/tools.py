"""Questions that are answered by calling a function, and what to do with its result.

Functions come with one of several names, a fifth of the time with an invented one and in training more often: what a
function does has to be read from its description.
"""

from dataclasses import dataclass

import dialogue
from phrases import PHRASES
from stories import sentence
from words import CITIES, COMMON, GIVEN, KIND, made_up

WEATHER = ["sunny", "cloudy", "rainy", "windy", "foggy", "clear", "snowy", "stormy"]
CURRENCIES = ["euros", "dollars", "pounds", "yen", "francs"]
UNITS = [
    ("kilometres", "miles"),
    ("metres", "feet"),
    ("kilograms", "pounds"),
    ("litres", "gallons"),
    ("degrees Celsius", "degrees Fahrenheit"),
]
ROOMS = "kitchen bedroom bathroom hall office garage garden cellar".split()
FILES = [
    "notes.txt",
    "todo.md",
    "report.pdf",
    "data.csv",
    "letter.txt",
    "main.py",
    "index.html",
    "readme.md",
    "budget.csv",
    "poem.txt",
]
MESSAGES = [
    "I am late",
    "the meeting is at nine",
    "dinner is ready",
    "I will be there soon",
    "thank you for the book",
    "the train is late",
    "we meet at the station",
    "please call me back",
    "happy birthday",
    "the key is under the mat",
    "I cannot come today",
]


@dataclass
class Call:
    """One use of a tool: the words that ask for it, what it gets, what it gives back, and the answer."""

    ask: str
    what: str
    arguments: dict
    result: str
    answer: str


def word(draw):
    return (
        draw.choice(COMMON).lower()
        if draw.chance(0.7)
        else draw.choice(list(KIND))
        if draw.chance(0.6)
        else made_up(draw)
    )


def city(draw):
    return draw.choice(CITIES) if draw.chance(0.8) else made_up(draw).capitalize()


def file(draw):
    return (
        draw.choice(FILES)
        if draw.chance(0.4)
        else f"{draw.choice(COMMON).lower()}.{draw.choice(['txt', 'md', 'csv', 'py', 'json'])}"
    )


def weather(draw, key):
    place, sky, degrees = city(draw), draw.choice(WEATHER), draw.randint(-9, 39)
    result = f"{degrees} °C, {sky}" if draw.chance(0.5) else f'{{"temperature": {degrees}, "sky": "{sky}"}}'
    return (place,), f"the weather in {place}", {key[0]: place}, result, f"In {place} it is {degrees} °C and {sky}."


def clock(draw, key):
    place, time = city(draw), f"{draw.randint(0, 23)}:{draw.randint(0, 59):02}"
    return (place,), f"the time in {place}", {key[0]: place}, time, f"In {place} it is {time}."


def calculator(draw, key):
    a, b, sign = draw.randint(100, 9999), draw.randint(2, 999), draw.choice("+-*")
    expression = f"{a} {sign} {b}"
    result = {"+": a + b, "-": a - b, "*": a * b}[sign]
    return (expression,), expression, {key[0]: expression}, str(result), f"{expression} = **{result}**"


def search(draw, key):
    topic = " ".join(word(draw) for _ in range(draw.choice([1, 1, 2])))
    found = f"{sentence(word(draw))} and {word(draw)}"
    return (topic,), topic, {key[0]: topic}, f"1. {found}", f"About {topic} I found: {found}."


def page(draw, key):
    address = (
        f"https://{word(draw).replace(' ', '')}.{draw.choice(['org', 'com', 'net'])}/{draw.choice(COMMON).lower()}"
    )
    text = f"{sentence(word(draw))} is about {word(draw)}"
    return (address,), f"the page {address}", {key[0]: address}, text, f"The page says: {text}."


def read(draw, key):
    name, text = file(draw), f"{draw.choice(MESSAGES)}"
    return (name,), f"the file {name}", {key[0]: name}, text, f"{name} says: {text}."


def write(draw, key):
    name, text = file(draw), draw.choice(MESSAGES) if draw.chance(0.6) else " ".join(word(draw) for _ in range(3))
    return (name, text), f"writing to {name}", {key[0]: name, key[1]: text}, "ok", f"I have written it to {name}."


def timer(draw, key):
    minutes = draw.randint(1, 90)
    return (
        (minutes,),
        f"a timer of {minutes} minutes",
        {key[0]: str(minutes)},
        "started",
        f"The timer is set to {minutes} minutes.",
    )


def message(draw, key):
    name, text = draw.choice(GIVEN) if draw.chance(0.8) else made_up(draw).capitalize(), draw.choice(MESSAGES)
    return (name, text), f"a message to {name}", {key[0]: name, key[1]: text}, "sent", f"The message to {name} is sent."


def note(draw, key):
    text = (
        draw.choice(MESSAGES)
        if draw.chance(0.4)
        else f"{draw.choice(['buy', 'call', 'find', 'clean', 'repair'])} {word(draw)}"
    )
    return (text,), f'the note "{text}"', {key[0]: text}, "saved", f"I have noted: {text}."


def translate(draw, key):
    x, language, foreign = (
        word(draw),
        draw.choice("French German Spanish Italian Polish Dutch Danish Greek".split()),
        made_up(draw),
    )
    return (
        (x, language),
        f"{x} in {language}",
        {key[0]: x, key[1]: language},
        foreign,
        f'"{sentence(x)}" in {language} is **{foreign}**.',
    )


def convert(draw, key):
    value, (a, b) = draw.randint(2, 500), draw.choice(UNITS)
    result = f"{draw.randint(1, 900)}.{draw.randint(1, 9)}"
    return (
        (value, a),
        f"{value} {a} in {b}",
        {key[0]: str(value), key[1]: a, key[2]: b},
        result,
        f"{value} {a} are **{result} {b}**.",
    )


def money(draw, key):
    value, (a, b) = draw.randint(2, 900), draw.sample(CURRENCIES, 2)
    result = f"{draw.randint(1, 999)}.{draw.randint(10, 99)}"
    return (
        (value, a, b),
        f"{value} {a} in {b}",
        {key[0]: str(value), key[1]: a, key[2]: b},
        result,
        f"{value} {a} are **{result} {b}**.",
    )


def dice(draw, key):
    a, b = draw.randint(1, 10), draw.randint(20, 100)
    result = draw.randint(a, b)
    return (
        (a, b),
        f"a random number from {a} to {b}",
        {key[0]: str(a), key[1]: str(b)},
        str(result),
        f"The random number is **{result}**.",
    )


def music(draw, key):
    title = " ".join(word(draw) for _ in range(2))
    return (title,), title, {key[0]: title}, "playing", f"Now playing {title}."


def light(draw, key):
    room, state = draw.choice(ROOMS), draw.choice(["on", "off"])
    return (
        (room, state),
        f"the light in the {room}",
        {key[0]: room, key[1]: state},
        "done",
        f"The light in the {room} is {state}.",
    )


def define(draw, key):
    x, meaning = word(draw), f"a kind of {word(draw)}"
    return (x,), f"the meaning of {x}", {key[0]: x}, meaning, f"{sentence(x)} means: {meaning}."


def event(draw, key):
    title, day = (
        f"{draw.choice(['meeting', 'lunch', 'walk', 'party', 'lesson'])} with {draw.choice(GIVEN)}",
        draw.choice("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
    )
    return (
        (title, day),
        f"the {title} on {day}",
        {key[0]: title, key[1]: day},
        "added",
        f"The {title} is in your calendar for {day}.",
    )


def folder(draw, key):
    name, files = draw.choice(COMMON).lower(), [file(draw) for _ in range(draw.randint(2, 3))]
    return (
        (name,),
        f"the folder {name}",
        {key[0]: name},
        "\n".join(files),
        f"In {name} there are:\n\n" + "\n".join(f"- {f}" for f in files),
    )


def distance(draw, key):
    a, b = city(draw), city(draw)
    result = draw.randint(20, 9000)
    return (
        (a, b),
        f"the way from {a} to {b}",
        {key[0]: a, key[1]: b},
        f"{result} km",
        f"From {a} to {b} it is **{result} km**.",
    )


# Maker, names, description, names and types of the parameters, forms of the question: the last two are held out.
TOOLS = [
    (
        weather,
        "get_weather weather weather_now current_weather".split(),
        ["Tells the weather in a city.", "Current weather of a place."],
        [["city", "place", "location", "town"]],
        [
            "What is the weather in {0}?",
            "How is the weather in {0}?",
            "Weather in {0}?",
            "Is it raining in {0}?",
            "Tell me the weather in {0}.",
            "Do I need an umbrella in {0}?",
            "What is the weather in {0} now?",
            "How is the weather today in {0}?",
            "Will it rain in {0}?",
            "Is it cold in {0}?",
            "Is it warm in {0} today?",
            "Do I need a coat in {0}?",
            "How cold is it in {0} now?",
            "{0}: how is the weather?",
            "Is the sun shining in {0}?",
            "What is the sky like in {0}?",
            "Weather for {0}, please.",
            "Say how the weather is in {0}.",
            "Does it snow in {0} now?",
            "How hot is it in {0} today?",
            "How warm is it in {0}?",
            "What is the weather like in {0} today?",
        ],
    ),
    (
        clock,
        "get_time time current_time clock".split(),
        ["Tells the time in a city.", "Current local time of a place."],
        [["city", "place", "location", "zone"]],
        [
            "What time is it in {0}?",
            "Tell me the time in {0}.",
            "How late is it in {0}?",
            "What time is it now in {0}?",
            "What is the time in {0}?",
            "The time in {0}, please.",
            "Time in {0}?",
            "Which time is it in {0} right now?",
            "Is it late in {0}?",
            "How late is it now in {0}?",
            "Tell me the current time in {0}.",
            "What is the local time in {0}?",
            "What does the clock say in {0}?",
            "Say the time in {0}.",
            "Local time of {0}?",
            "What is the time in {0} now?",
            "Current time in {0}?",
        ],
    ),
    (
        calculator,
        "calculate calculator compute evaluate".split(),
        ["Computes an expression.", "Calculates the value of a formula."],
        [["expression", "formula", "input"]],
        [
            "What is {0}?",
            "Calculate {0}.",
            "How much is {0}?",
            "{0}",
            "Compute {0}.",
            "What does {0} give?",
            "Please compute {0}.",
            "{0} =",
            "Work out {0}.",
            "How much is {0}, please?",
            "What is the result of {0}?",
            "Can you calculate {0}?",
            "Give me the result of {0}.",
            "What comes out of {0}?",
            "Could you work out {0}?",
            "Solve {0}.",
            "I need {0}.",
            "Please work out {0}.",
            "{0} = ?",
        ],
    ),
    (
        search,
        "search_web web_search search find".split(),
        ["Searches the web.", "Finds pages about a topic."],
        [["query", "q", "text", "topic"]],
        [
            "Search the web for {0}.",
            "Search for {0}.",
            "Look up {0}.",
            "Find something about {0}.",
            "Find pages about {0}.",
            "Search the internet for {0}.",
            "Look for {0} on the web.",
            "What can you find about {0}?",
            "Please google {0}.",
            "Look {0} up on the web.",
            "What do people on the web say about {0}?",
            "Is there something about {0} on the web?",
            "Do a web search for {0}.",
            "What does the internet say about {0}?",
            "Are there pages about {0}?",
            "Search: {0}",
            "See what the web has on {0}.",
            "Google {0}.",
            "What does the web say about {0}?",
        ],
    ),
    (
        page,
        "read_page fetch open_url get_page".split(),
        ["Reads a web page.", "Fetches the text of an address."],
        [["url", "address", "link"]],
        [
            "What is on {0}?",
            "Read {0}.",
            "Open {0}.",
            "What does {0} say?",
            "Open the page {0}.",
            "Read the page {0}.",
            "Show me {0}.",
            "What is on the page {0}?",
            "Sum up {0}.",
            "Look at {0}.",
            "Tell me what {0} says.",
            "Please read {0} for me.",
            "Get the text of {0}.",
            "What can I read on {0}?",
            "Give me a summary of {0}.",
            "Have you seen {0}? Read it to me.",
            "Go to {0} and read it.",
            "Summarise {0}.",
            "Have a look at {0}.",
        ],
    ),
    (
        read,
        "read_file file_read open_file cat".split(),
        ["Reads a file.", "Returns the text of a file."],
        [["path", "file", "name"]],
        [
            "Read {0}.",
            "What is in {0}?",
            "Show me {0}.",
            "Read the file {0}.",
            "Show the file {0}.",
            "What does {0} say?",
            "Open {0}.",
            "Look into {0}.",
            "What is in the file {0}?",
            "Tell me what the file {0} says.",
            "Show me the text of {0}.",
            "Please open {0}.",
            "What is written in {0}?",
            "Read me the file {0}.",
            "Give me the text of {0}.",
            "Open up {0} for me.",
            "See what is in {0}.",
            "What does the file {0} say?",
            "Open the file {0}.",
        ],
    ),
    (
        write,
        "write_file save_file file_write store".split(),
        ["Writes text to a file.", "Saves a text as a file."],
        [["path", "file", "name"], ["content", "text", "data"]],
        [
            'Write "{1}" to {0}.',
            'Save "{1}" in {0}.',
            'Write "{1}" into the file {0}.',
            'Put "{1}" in the file {0}.',
            'Write "{1}" into {0}.',
            'Save "{1}" to {0}.',
            'Make a file {0} with "{1}".',
            'Store "{1}" as {0}.',
            'Save "{1}" to the file {0}.',
            'Please write "{1}" to {0}.',
            'Put this into {0}: "{1}"',
            'Put the text "{1}" into a file called {0}.',
            'Keep "{1}" in {0}.',
            'Please save "{1}" as {0}.',
            'Put down "{1}" in {0}.',
            'I want "{1}" in {0}.',
            'Store "{1}" in {0}.',
            'Put "{1}" into {0}.',
        ],
    ),
    (
        timer,
        "set_timer timer start_timer countdown".split(),
        ["Starts a timer.", "Counts down some minutes."],
        [[("minutes", "integer"), ("duration", "integer"), ("length", "integer")]],
        [
            "Set a timer for {0} minutes.",
            "Timer of {0} minutes, please.",
            "Start a timer for {0} minutes.",
            "Set a timer: {0} minutes.",
            "{0} minutes, starting now.",
            "Count down {0} minutes.",
            "Timer: {0} minutes",
            "Please start a timer of {0} minutes.",
            "Wake me up after {0} minutes.",
            "Tell me when it has been {0} minutes.",
            "I need a timer for {0} minutes.",
            "Remind me in {0} minutes.",
            "Set the timer to {0} minutes.",
            "Let me know after {0} minutes.",
            "Wake me when {0} minutes have gone.",
            "Ring in {0} minutes.",
            "Tell me once {0} minutes have passed.",
            "Wake me in {0} minutes.",
            "Tell me when {0} minutes are over.",
        ],
    ),
    (
        message,
        "send_message message text_to send".split(),
        ["Sends a message to somebody.", "Writes to a contact."],
        [["to", "recipient", "name", "contact"], ["text", "message", "body"]],
        [
            "Tell {0} that {1}.",
            "Send {0} a message: {1}",
            "Write to {0}: {1}",
            "Message {0}: {1}",
            "Send this message to {0}: {1}",
            "Tell {0}: {1}",
            "Let {0} know: {1}",
            "Inform {0} that {1}.",
            "Text {0}: {1}",
            "Send {0} this: {1}",
            "Please tell {0} that {1}.",
            "Write {0} that {1}.",
            "I want {0} to know that {1}.",
            "I want to tell {0}: {1}",
            "Say to {0} that {1}.",
            "Let {0} hear that {1}.",
            "Send a message to {0} that {1}.",
            "{0} should know that {1}.",
            "Send this to {0}: {1}",
            "Let {0} know that {1}.",
        ],
    ),
    (
        note,
        "add_note note remember save_note".split(),
        ["Saves a note.", "Keeps a short text for later."],
        [["text", "note", "content"]],
        [
            "Note: {0}",
            "Make a note: {0}",
            "Write down: {0}",
            "Save a note: {0}",
            "Note down: {0}",
            "Remember: {0}",
            "Please remember this: {0}",
            "Keep for later: {0}",
            "A note, please: {0}",
            "Add a note: {0}",
            "Note for later: {0}",
            "Please write this down: {0}",
            "Don't forget: {0}",
            "Keep in mind: {0}",
            "I must not forget this: {0}",
            "Note this down: {0}",
            "Put on my notes: {0}",
            "Keep this: {0}",
            "Remember for later: {0}",
            "Please note this: {0}",
        ],
    ),
    (
        translate,
        "translate translate_word to_language translator".split(),
        ["Translates a text.", "Gives a text in another language."],
        [["text", "word", "input"], ["language", "target", "to"]],
        [
            "What is {0} in {1}?",
            "Translate {0} into {1}.",
            "How do you say {0} in {1}?",
            "Translate {0} to {1}.",
            "What is the {1} word for {0}?",
            "Say {0} in {1}.",
            'What does "{0}" mean in {1}?',
            "{0} in {1}, please.",
            "How is {0} called in {1}?",
            "I need the word {0} in {1}.",
            "Please translate {0} into {1}.",
            "Which is the {1} word for {0}?",
            "Put {0} into {1}.",
            "{0} in {1}?",
            "Give the word {0} in {1}.",
            "Can you translate {0} to {1}?",
            'Translate "{0}" to {1}.',
            "The word {0} in {1}, please.",
        ],
    ),
    (
        convert,
        "convert_units convert unit_converter".split(),
        ["Converts a value to another unit.", "Changes units."],
        [[("value", "number"), ("amount", "number")], ["from", "from_unit", "unit"], ["to", "to_unit", "target"]],
        [
            "How many {2} are {0} {1}?",
            "Convert {0} {1} to {2}.",
            "What is {0} {1} in {2}?",
            "How much is {0} {1} in {2}?",
            "Change {0} {1} to {2}.",
            "I have {0} {1}. How many {2} is that?",
            "Tell me {0} {1} in {2}.",
            "{0} {1} to {2}",
            "Please convert {0} {1} into {2}.",
            "{0} {1} are how many {2}?",
            "Please turn {0} {1} to {2}.",
            "Make {0} {1} into {2}.",
            "What do {0} {1} make in {2}?",
            "Give me {0} {1} as {2}.",
            "{0} {1} in {2}",
            "Turn {0} {1} into {2}.",
        ],
    ),
    (
        money,
        "convert_currency exchange currency".split(),
        ["Converts money to another currency.", "Tells the value of an amount in another currency."],
        [[("amount", "number"), ("value", "number")], ["from", "source"], ["to", "target"]],
        [
            "How many {2} are {0} {1}?",
            "Convert {0} {1} to {2}.",
            "What are {0} {1} in {2}?",
            "How much is {0} {1} in {2}?",
            "Exchange {0} {1} for {2}.",
            "I have {0} {1}. How many {2} is that?",
            "{0} {1} in {2}",
            "What is {0} {1} in {2}?",
            "Please change {0} {1} to {2}.",
            "{0} {1} to {2}, please.",
            "Please turn {0} {1} into {2}.",
            "What do I get in {2} for {0} {1}?",
            "{0} {1} are how many {2}?",
            "Give me {0} {1} as {2}.",
            "Change {0} {1} into {2}.",
            "{0} {1} in {2}, please.",
        ],
    ),
    (
        dice,
        "random_number random roll pick_number".split(),
        ["Draws a random number.", "Picks a number between two bounds."],
        [
            [("min", "integer"), ("low", "integer"), ("first", "integer")],
            [("max", "integer"), ("high", "integer"), ("last", "integer")],
        ],
        [
            "Give me a random number from {0} to {1}.",
            "Pick a number between {0} and {1}.",
            "A random number from {0} to {1}, please.",
            "A number between {0} and {1}, please.",
            "Pick a random number from {0} to {1}.",
            "Choose a number from {0} to {1}.",
            "Draw a random number from {0} to {1}.",
            "Random number between {0} and {1}?",
            "Roll a number between {0} and {1}.",
            "I need a random number from {0} to {1}.",
            "Let me have a number from {0} to {1}.",
            "Choose any number between {0} and {1}.",
            "Random number from {0} to {1}, please.",
            "Roll for me: {0} to {1}.",
            "Draw a number between {0} and {1}.",
            "Roll a number from {0} to {1}.",
        ],
    ),
    (
        music,
        "play_music play play_song".split(),
        ["Plays a song.", "Starts music by its title."],
        [["title", "song", "name"]],
        [
            "Play {0}.",
            "Play the song {0}.",
            "I want to hear {0}.",
            "Play {0} for me.",
            "Please play {0}.",
            "Play the music {0}.",
            "Start {0}.",
            "Put {0} on.",
            "Put on the song {0}.",
            "I would like to hear {0}.",
            "Start playing {0}.",
            "Let me hear {0}.",
            "Put on some music: {0}",
            "Put the song {0} on.",
            "Put on the music {0}.",
            "Can you play {0}?",
            "Turn on {0}.",
            "Let the song {0} play.",
            "Now put on the title {0}, please.",
            "Put on {0}.",
            "Start the song {0}.",
        ],
    ),
    (
        light,
        "set_light light switch_light lamp".split(),
        ["Switches a light.", "Turns the lamp in a room on or off."],
        [["room", "where", "place"], ["state", "power", "value"]],
        [
            "Turn {1} the light in the {0}.",
            "Switch {1} the light in the {0}.",
            "Light {1} in the {0}, please.",
            "Light in the {0} {1}, please.",
            "Please turn the light in the {0} {1}.",
            "Switch the {0} light {1}.",
            "{0} light {1}",
            "Make the light in the {0} go {1}.",
            "Put {1} the light in the {0}.",
            "I want the light in the {0} {1}.",
            "Turn the lamp in the {0} {1}.",
            "Put the {0} light {1}.",
            "Put the lamp in the {0} {1}.",
            "Turn {1} the lamp in the {0}.",
            "Make it so that the {0} light is {1}.",
            "The light in the {0} should be {1}.",
            "Put {1} the {0} lamp.",
            "Set the light in the {0} to {1}.",
            "Put lights {1} in the {0}.",
            "Turn the {0} light {1}.",
            "Put the light in the {0} {1}.",
        ],
    ),
    (
        define,
        "define_word define dictionary meaning".split(),
        ["Explains a word.", "Looks up the meaning of a word."],
        [["word", "term", "text"]],
        [
            "What does {0} mean?",
            "Define {0}.",
            "What is the meaning of {0}?",
            "Explain {0}.",
            "Tell me the meaning of {0}.",
            "What is the word {0}?",
            "Meaning of {0}?",
            "I do not know the word {0}.",
            "Explain what {0} means.",
            "What does the word {0} mean?",
            "Please define the word {0}.",
            "Look up the word {0}.",
            "Give me the meaning of {0}.",
            "What do people mean by {0}?",
            "I want to know what {0} means.",
            "Find the meaning of the word {0}.",
            "Look up what {0} means.",
            "Explain the word {0}.",
            "Look up the meaning of {0}.",
        ],
    ),
    (
        event,
        "create_event add_event calendar".split(),
        ["Adds an event to the calendar.", "Creates an appointment."],
        [["title", "name", "what"], ["day", "date", "when"]],
        [
            "Add {0} on {1} to my calendar.",
            "Plan {0} for {1}.",
            "I have {0} on {1}. Put it into the calendar.",
            "Put {0} on {1} into my calendar.",
            "Add an event: {0} on {1}",
            "New event: {0} on {1}",
            "I have {0} on {1}.",
            "Event: {0} on {1}",
            "Put {0} into the calendar for {1}.",
            "Create {0} on {1}.",
            "Note in the calendar: {0} on {1}",
            "Please plan {0} on {1}.",
            "My calendar: {0} on {1}",
            "Make an event for {1}: {0}",
            "Put this in the calendar: {0} on {1}",
            "Plan this for {1}: {0}",
            "There is {0} on {1}. Add it.",
            "Create an event: {0} on {1}",
            "Calendar: {0} on {1}",
        ],
    ),
    (
        folder,
        "list_files list_folder ls".split(),
        ["Lists the files in a folder.", "Shows what a folder holds."],
        [["path", "folder", "directory"]],
        [
            "Which files are in {0}?",
            "List the folder {0}.",
            "What is in the folder {0}?",
            "Show me the folder {0}.",
            "What does the folder {0} hold?",
            "Tell me the files in {0}.",
            "List {0}.",
            "List the files in the folder {0}.",
            "Show what is in the folder {0}.",
            "Files in {0}?",
            "Which files does {0} have?",
            "See all files in {0}.",
            "What files are in the folder {0}?",
            "Show me everything in {0}.",
            "See what {0} holds.",
            "Give me a list of the files in {0}.",
            "What is there in the folder {0}?",
            "Show the files in {0}.",
            "List all files in {0}.",
        ],
    ),
    (
        distance,
        "get_distance distance route".split(),
        ["Tells the distance between two cities.", "Measures the way between two places."],
        [["from", "start", "origin"], ["to", "end", "destination"]],
        [
            "How far is it from {0} to {1}?",
            "What is the distance from {0} to {1}?",
            "Distance from {0} to {1}?",
            "How far is {1} from {0}?",
            "Tell me the distance from {0} to {1}.",
            "How many miles is it from {0} to {1}?",
            "Distance between {0} and {1}?",
            "From {0} to {1}: how far is it?",
            "How long is it from {0} to {1}?",
            "What is the way from {0} to {1} in kilometres?",
            "How far away is {1} from {0}?",
            "How many kilometres is it between {0} and {1}?",
            "What is the length of the way from {0} to {1}?",
            "How long is the road from {0} to {1}?",
            "Measure the way from {0} to {1}.",
            "How long is the way from {0} to {1}?",
            "How many kilometres are there from {0} to {1}?",
        ],
    ),
]
ERRORS = [
    "Error: not found",
    "Error: no connection",
    "Error: not allowed",
    "Error: time-out",
    "Error: the service is down",
]


@dataclass
class Tool:
    """One function as it is offered in one chat."""

    number: int
    definition: dict
    keys: list


def offer(draw, number):
    maker, names, descriptions, parameters, _ = TOOLS[number]
    name = draw.choice(names) if draw.chance(0.8 if draw.measure else 0.65) else made_up(draw) + draw.choice(["", "_tool", "_it"])
    if draw.chance(0.1):
        name = f"{draw.choice(['home', 'web', 'my', 'files', 'app'])}__{name}"
    properties, keys = {}, []
    for options in parameters:
        key = draw.choice([k for k in options if (k if isinstance(k, str) else k[0]) not in keys])
        key, kind = (key, "string") if isinstance(key, str) else key
        properties[key] = {"type": kind}
        keys.append(key)
    definition = {
        "type": "function",
        "function": {
            "name": name,
            "description": draw.choice(descriptions),
            "parameters": {"type": "object", "properties": properties, "required": keys},
        },
    }
    return Tool(number, definition, keys)


def use(draw, tool):
    """A question for which the tool is right."""
    maker, *_, asks = TOOLS[tool.number]
    while True:
        parts, what, arguments, result, answer = maker(draw, tool.keys)
        if draw.allowed(maker.__name__, *parts):
            break
    if maker is light:
        arguments = dict(zip(tool.keys, parts))
    form = draw.choice(asks[:-2] if draw.phrases is PHRASES else asks[-2:])
    ask = draw.varied(form).format(*arguments.values())
    return Call(ask if draw.measure else asked(draw, form, ask), what, arguments, result, answer)


def asked(draw, form, ask):
    """The question as it is, greeted, thanked for, or typed in a hurry."""
    how = draw.choices(["as it is", "greeted", "thanked", "lower", "bare"], [76, 6, 6, 6, 6])[0]
    if how == "greeted":
        return f"{draw.choice(['Hi!', 'Hello!', 'Hey.'])} {ask}"
    if how == "thanked" and ask[-1] in ".?!":
        return f"{ask} {draw.choice(['Thanks!', 'Thank you.'])}"
    if how == "lower" and form[0] != "{":
        return ask[0].lower() + ask[1:]
    return ask[:-1] if how == "bare" and form[-1] in ".?" else ask


def called(tool, call):
    return {"type": "function", "function": {"name": tool.definition["function"]["name"], "arguments": call.arguments}}


def rounds(draw, thinking):
    """Tools, and the messages of some questions with them."""
    # Training has more to choose from than what measures.
    count = draw.choices([1, 2, 3, 4], [4, 4, 2, 1] if draw.measure else [1, 4, 3, 2])[0]
    numbers = draw.sample(range(len(TOOLS)), count)
    offered = [offer(draw, n) for n in numbers]
    names = [t.definition["function"]["name"] for t in offered]
    if len(set(names)) < len(names):
        return rounds(draw, thinking)
    messages = []
    for _ in range(draw.choices([1, 2, 3, 4], [3, 3, 3, 2])[0]):
        messages += question(draw, thinking, offered, names)
    return [t.definition for t in offered], messages


def question(draw, thinking, offered, names):
    """The messages of one question: it may need one tool, one of them twice, none, or one that is not there."""
    form = draw.choices(["call", "two", "error", "none", "other"], [64, 10, 6, 6, 14])[0]
    if form == "other":
        while True:
            turn = dialogue.anything(draw)
            if turn.about.get("family") not in ("sum", "translation", "talk", "repeat"):
                break
        return [{"role": "user", "content": turn.ask}, answer(turn.say, turn.think, thinking, **turn.about)]
    if form == "none":
        numbers = [t.number for t in offered]
        missing = offer(draw, draw.choice([n for n in range(len(TOOLS)) if n not in numbers and n not in (2, 10)]))
        return [
            {"role": "user", "content": use(draw, missing).ask},
            answer(
                f"Sorry, I have no tool for that. I can use {names[0]}, if that helps.",
                "None of the tools fits. I say so.",
                thinking,
                family="no tool",
            ),
        ]
    tool = draw.choice(offered)
    name = tool.definition["function"]["name"]
    first = use(draw, tool)
    calls, ask = [first], first.ask
    if form == "two":
        second = use(draw, tool)
        calls.append(second)
        ask = f"{ask} {draw.choice(['And then:', 'And also:', 'Also:'])} {second.ask}"
    said = draw.choice(["I will do that.", "One moment.", "Let me look."]) if draw.chance(0.15) else ""
    think = (
        f"I need {name} for {first.what}."
        if len(calls) == 1
        else f"I call {name} twice: for {calls[0].what} and for {calls[1].what}."
    )
    messages = [{"role": "user", "content": ask}, answer(said, think, thinking, family="call", name=name)]
    messages[-1]["tool_calls"] = [called(tool, c) for c in calls]
    if form == "error":
        error = draw.choice(ERRORS)
        return [
            *messages,
            {"role": "tool", "content": error},
            answer(
                f"That did not work. {name} said: {error}",
                f"{name} reported an error. I say so.",
                thinking,
                family="tool answer",
            ),
        ]
    messages += [{"role": "tool", "content": c.result} for c in calls]
    results = answer(
        " ".join(c.answer for c in calls),
        f"{name} has answered. I tell the result.",
        thinking,
        family="tool answer",
        result=[c.result for c in calls],
    )
    return [*messages, results]


def answer(say, think, thinking, **about):
    return {"role": "assistant", "content": say, "reasoning_content": think if thinking else "", "about": about}
