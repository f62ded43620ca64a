"""Lists, counts and tables."""

from draw import Turn
from words import CAPITALS, NUMBERS

LISTS = {
    "animals": "dog cat horse cow lion elephant rabbit bear fox owl",
    "birds": "robin owl eagle swan crow duck parrot penguin sparrow heron",
    "fish": "salmon tuna trout cod herring shark carp eel",
    "insects": "bee ant fly wasp beetle butterfly moth cricket",
    "fruits": "apple banana cherry pear orange grape lemon strawberry plum mango",
    "vegetables": "carrot potato tomato onion cabbage spinach pea bean pumpkin leek",
    "colours": "red blue green yellow orange purple pink brown black white",
    "colors": "red blue green yellow orange purple pink brown black white",
    "trees": "oak birch pine maple beech willow chestnut elm",
    "flowers": "rose tulip daisy lily sunflower violet poppy orchid",
    "countries": "France Germany Spain Italy Japan Canada Norway Brazil Egypt India",
    "cities": "London Paris Berlin Rome Tokyo Madrid Vienna Oslo Cairo Lima",
    "planets": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune",
    "instruments": "piano guitar violin flute drum trumpet harp cello",
    "sports": "football tennis swimming running cycling hockey volleyball skiing",
    "drinks": "water tea coffee milk juice lemonade cocoa soda",
    "jobs": "teacher doctor baker farmer pilot cook painter nurse gardener tailor",
    "tools": "hammer saw drill spanner pliers file axe spade",
    "clothes": "shirt trousers dress coat hat scarf sock shoe glove sweater",
    "shapes": "circle square triangle rectangle star oval cube sphere",
    "metals": "iron gold silver copper tin zinc lead nickel",
    "vehicles": "car bus train bicycle boat plane truck tram",
    "languages": "English French German Spanish Italian Chinese Arabic Hindi",
    "emotions": "joy sadness anger fear surprise love hope pride",
    "hobbies": "reading drawing cooking hiking singing gardening chess photography",
    "toys": "ball doll kite puzzle marble teddy train yo-yo",
    "spices": "salt pepper cinnamon ginger paprika saffron nutmeg vanilla",
    "names for a cat": "Luna Felix Mimi Tiger Oscar Bella Simba Nala",
    "names for a dog": "Max Buddy Bella Rocky Charlie Luna Rex Daisy",
    "rivers": "Nile Amazon Danube Rhine Thames Volga Seine Ganges",
    "body parts": "head arm leg hand foot eye ear nose",
    "furniture": "table chair bed sofa shelf desk lamp cupboard",
    "gifts": "book scarf game candle plant puzzle mug chocolate",
    "rooms": "kitchen bedroom bathroom hall cellar attic study garage",
}
PHRASED = {
    "ideas for a rainy day": [
        "Read a good book",
        "Bake a cake",
        "Play a board game",
        "Draw a picture",
        "Write a letter",
        "Watch an old film",
        "Tidy a drawer",
        "Call a friend",
    ],
    "tips for better sleep": [
        "Go to bed at the same time every day",
        "Keep the room cool and dark",
        "Drink no coffee in the evening",
        "Put the phone away",
        "Read a few pages",
        "Take a short walk before bed",
        "Breathe slowly",
    ],
    "reasons to learn to read": [
        "Books take you to other worlds",
        "You learn new words",
        "You can read letters from friends",
        "Signs show you the way",
        "It makes waiting shorter",
        "It is fun",
    ],
    "things to do in summer": [
        "Swim in a lake",
        "Eat ice cream",
        "Fly a kite",
        "Sleep in a tent",
        "Ride a bicycle",
        "Pick berries",
    ],
    "things to do in winter": [
        "Build a snowman",
        "Drink hot cocoa",
        "Go skating",
        "Read by the fire",
        "Bake cookies",
        "Feed the birds",
    ],
    "things to take on a trip": [
        "Passport",
        "Warm sweater",
        "Toothbrush",
        "Book",
        "Water bottle",
        "Map",
        "Umbrella",
        "Phone charger",
    ],
    "ways to relax": [
        "Take a walk",
        "Listen to music",
        "Drink a cup of tea",
        "Breathe slowly",
        "Read a book",
        "Take a warm bath",
    ],
    "ideas for breakfast": [
        "Bread and honey",
        "Porridge with fruit",
        "Eggs and toast",
        "Pancakes",
        "Yogurt with nuts",
        "Cheese and tomatoes",
    ],
    "ideas for dinner": [
        "Pasta with tomatoes",
        "Vegetable soup",
        "Rice and beans",
        "Baked potatoes",
        "Pizza",
        "Salad with cheese",
    ],
    "tips for learning": [
        "Learn a little every day",
        "Take breaks",
        "Explain it to somebody",
        "Write it down",
        "Sleep well",
        "Ask questions",
    ],
    "birthday ideas": ["Bake a cake", "Invite friends", "Go on a picnic", "Play games", "Make a card", "Sing a song"],
}
WHOLE = {
    "days": (
        ["the days of the week", "the weekdays", "all days of the week"],
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
        "The days of the week",
    ),
    "months": (
        ["the months of the year", "the months", "all months"],
        "January February March April May June July August September October November December".split(),
        "The months of the year",
    ),
    "seasons": (
        ["the seasons", "the four seasons", "the seasons of the year"],
        "spring summer autumn winter".split(),
        "The four seasons",
    ),
    "planets": (
        ["the planets", "the planets of the solar system", "all planets"],
        "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split(),
        "The planets, from the sun outwards",
    ),
    "continents": (
        ["the continents", "all continents", "the seven continents"],
        ["Africa", "Antarctica", "Asia", "Australia", "Europe", "North America", "South America"],
        "The seven continents",
    ),
    "oceans": (
        ["the oceans", "all oceans", "the five oceans"],
        ["Pacific", "Atlantic", "Indian Ocean", "Southern Ocean", "Arctic Ocean"],
        "The five oceans",
    ),
    "rainbow": (
        ["the colours of the rainbow", "the rainbow colours"],
        "red orange yellow green blue indigo violet".split(),
        "The colours of the rainbow",
    ),
    "vowels": (["the vowels", "all vowels"], list("aeiou"), "The vowels"),
    "primes": (
        ["the first prime numbers", "the first five prime numbers"],
        ["2", "3", "5", "7", "11"],
        "The first five prime numbers",
    ),
    "senses": (["the five senses", "the senses"], "sight hearing smell taste touch".split(), "The five senses"),
    "shopping": (["a shopping list", "what to buy"], "bread milk eggs butter apples cheese".split(), "A shopping list"),
}


def numbered(items):
    return "\n".join(f"{i}. {item}" for i, item in enumerate(items, 1))


def some(draw):
    """A number of things of a kind, always from the top of its list."""
    name = draw.choice(list(LISTS) + list(PHRASED))
    items = LISTS[name].split() if name in LISTS else PHRASED[name]
    count = draw.choices(range(2, 9), [2, 8, 4, 8, 3, 2, 2])[0]
    count = min(count, len(items))
    items, word = items[:count], draw.choice([NUMBERS[count], str(count)]) if draw.chance(0.8) else "some"
    if word == "some":
        items = items[:5] if len(items) > 5 else (LISTS[name].split() if name in LISTS else PHRASED[name])[:5]
    heading = f"{NUMBERS[len(items)].capitalize()} {name}"
    return Turn(
        draw.phrase("some", n=word, x=name),
        f"{heading}:\n\n{numbered(items)}",
        f"The user wants {NUMBERS[len(items)]} {name}.",
        {"family": "list", "items": items, "count": len(items), "name": name},
    )


def whole(draw):
    names, items, heading = draw.choice(list(WHOLE.values()))
    name = draw.choice(names)
    return Turn(
        draw.phrase("whole", x=name),
        f"{heading}:\n\n{numbered(items)}",
        f"I list {name}, {len(items)} in all.",
        {"family": "list", "items": items, "count": len(items), "name": name},
    )


def count(draw):
    """Counting between two bounds, upwards, downwards, or by two."""
    first = draw.randint(1, 30)
    last = first + draw.randint(2, 12)
    form = draw.choices(["up", "down"], [3, 1])[0]
    numbers = range(first, last + 1) if form == "up" else range(last, first - 1, -1)
    if draw.chance(0.15):
        numbers = range(1, draw.randint(4, 20) + 1)
        last = numbers[-1]
        ask = draw.phrase("count to", b=NUMBERS[last] if last < len(NUMBERS) and draw.chance(0.5) else last)
        return Turn(
            ask,
            ", ".join(map(str, numbers)) + ".",
            f"I count from 1 to {last}.",
            {"family": "count", "text": ", ".join(map(str, numbers))},
        )
    return Turn(
        draw.phrase("count", a=numbers[0], b=numbers[-1]),
        ", ".join(map(str, numbers)) + ".",
        f"I count from {numbers[0]} to {numbers[-1]}.",
        {"family": "count", "text": ", ".join(map(str, numbers))},
    )


def listed(draw):
    return draw.choices([some, whole, count], [5, 3, 2])[0](draw)


TABLES = {
    "fruits and their colours": (
        ["Fruit", "Colour"],
        [
            ("Apple", "red"),
            ("Banana", "yellow"),
            ("Cherry", "red"),
            ("Lime", "green"),
            ("Orange", "orange"),
            ("Plum", "purple"),
        ],
    ),
    "animals and their sounds": (
        ["Animal", "Sound"],
        [("Dog", "barks"), ("Cat", "meows"), ("Cow", "moos"), ("Duck", "quacks"), ("Owl", "hoots"), ("Frog", "croaks")],
    ),
    "animals and their legs": (
        ["Animal", "Legs"],
        [("Dog", "4"), ("Bird", "2"), ("Spider", "8"), ("Ant", "6"), ("Snake", "0"), ("Cow", "4")],
    ),
    "planets and their places": (
        ["Planet", "Place"],
        [("Mercury", "1"), ("Venus", "2"), ("Earth", "3"), ("Mars", "4"), ("Jupiter", "5"), ("Saturn", "6")],
    ),
    "months and their days": (
        ["Month", "Days"],
        [("January", "31"), ("February", "28"), ("March", "31"), ("April", "30"), ("May", "31"), ("June", "30")],
    ),
    "words and their opposites": (
        ["Word", "Opposite"],
        [("hot", "cold"), ("big", "small"), ("fast", "slow"), ("open", "closed"), ("happy", "sad"), ("full", "empty")],
    ),
    "English and French words": (
        ["English", "French"],
        [
            ("hello", "bonjour"),
            ("thank you", "merci"),
            ("house", "maison"),
            ("cat", "chat"),
            ("water", "eau"),
            ("bread", "pain"),
        ],
    ),
    "English and German words": (
        ["English", "German"],
        [
            ("hello", "hallo"),
            ("thank you", "danke"),
            ("house", "Haus"),
            ("cat", "Katze"),
            ("water", "Wasser"),
            ("bread", "Brot"),
        ],
    ),
    "countries and their capitals": (["Country", "Capital"], list(CAPITALS.items())[:8]),
    "animals and their homes": (
        ["Animal", "Home"],
        [("Bird", "nest"), ("Bee", "hive"), ("Rabbit", "burrow"), ("Bear", "cave"), ("Spider", "web"), ("Fox", "den")],
    ),
    "jobs and their tools": (
        ["Job", "Tool"],
        [
            ("Baker", "oven"),
            ("Painter", "brush"),
            ("Gardener", "spade"),
            ("Teacher", "chalk"),
            ("Tailor", "needle"),
            ("Cook", "pot"),
        ],
    ),
}


def drawn(heads, rows):
    return "\n".join(
        [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *(f"| {' | '.join(row)} |" for row in rows)]
    )


def table(draw):
    form = draw.choices(["facts", "squares", "times"], [6, 2, 2])[0]
    if form == "facts":
        name = draw.choice(list(TABLES))
        heads, rows = TABLES[name]
        count = draw.choices([3, 4, 5, 6], [4, 3, 3, 1])[0]
        word = draw.choice([NUMBERS[count], str(count)]) if draw.chance(0.6) else None
        rows = rows[: count if word else 4]
        ask = draw.phrase("table n", n=word, x=name) if word else draw.phrase("table", x=name)
        return Turn(
            ask,
            f"{NUMBERS[len(rows)].capitalize()} {name}:\n\n{drawn(heads, rows)}",
            f"The user wants a table of {name} with {len(rows)} rows.",
            {"family": "table", "rows": len(rows), "name": name},
        )
    if form == "squares":
        first = draw.randint(1, 8)
        rows = [(str(i), str(i * i)) for i in range(first, first + draw.randint(3, 5))]
        return Turn(
            draw.phrase("squares", a=rows[0][0], b=rows[-1][0]),
            f"The squares from {rows[0][0]} to {rows[-1][0]}:\n\n{drawn(['n', 'n²'], rows)}",
            "One row for each number.",
            {"family": "table", "rows": len(rows), "name": "squares"},
        )
    n = draw.randint(2, 10)
    rows = [(f"{n} × {i}", str(n * i)) for i in range(1, draw.choice([6, 11]))]
    return Turn(
        draw.phrase("times table", n=n),
        f"The {n} times table:\n\n{drawn(['Product', 'Result'], rows)}",
        f"I multiply {n} by 1, by 2 and so on.",
        {"family": "table", "rows": len(rows), "name": "times"},
    )
