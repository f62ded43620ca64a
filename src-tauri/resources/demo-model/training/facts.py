"""A few facts: capitals, opposites, sounds, words in other languages, and questions that many people ask."""

from draw import Turn
from words import CAPITALS, article

SOUNDS = {
    "dog": "barks",
    "cat": "meows",
    "cow": "moos",
    "duck": "quacks",
    "owl": "hoots",
    "frog": "croaks",
    "lion": "roars",
    "bee": "buzzes",
    "snake": "hisses",
    "horse": "neighs",
    "sheep": "bleats",
    "pig": "grunts",
    "wolf": "howls",
    "mouse": "squeaks",
    "crow": "caws",
    "goose": "honks",
}
OPPOSITES = {
    "hot": "cold",
    "big": "small",
    "fast": "slow",
    "light": "dark",
    "early": "late",
    "open": "closed",
    "happy": "sad",
    "full": "empty",
    "old": "new",
    "near": "far",
    "hard": "soft",
    "loud": "quiet",
    "up": "down",
    "left": "right",
    "good": "bad",
    "day": "night",
    "black": "white",
    "strong": "weak",
    "rich": "poor",
    "wet": "dry",
    "high": "low",
    "long": "short",
    "clean": "dirty",
    "easy": "difficult",
    "true": "false",
    "warm": "cool",
    "love": "hate",
    "always": "never",
    "inside": "outside",
    "begin": "end",
}
LEGS = {
    "spider": 8,
    "dog": 4,
    "cat": 4,
    "bird": 2,
    "ant": 6,
    "horse": 4,
    "snake": 0,
    "bee": 6,
    "octopus": 0,
    "cow": 4,
    "hen": 2,
    "crab": 10,
    "fish": 0,
    "duck": 2,
}
LANGUAGES = ["French", "German", "Spanish", "Italian"]
TRANSLATIONS = {
    "hello": ["bonjour", "hallo", "hola", "ciao"],
    "goodbye": ["au revoir", "auf Wiedersehen", "adiós", "arrivederci"],
    "thank you": ["merci", "danke", "gracias", "grazie"],
    "please": ["s'il vous plaît", "bitte", "por favor", "per favore"],
    "yes": ["oui", "ja", "sí", "sì"],
    "no": ["non", "nein", "no", "no"],
    "good morning": ["bonjour", "guten Morgen", "buenos días", "buongiorno"],
    "good night": ["bonne nuit", "gute Nacht", "buenas noches", "buonanotte"],
    "good evening": ["bonsoir", "guten Abend", "buenas tardes", "buonasera"],
    "sorry": ["pardon", "Entschuldigung", "perdón", "scusa"],
    "friend": ["ami", "Freund", "amigo", "amico"],
    "water": ["eau", "Wasser", "agua", "acqua"],
    "bread": ["pain", "Brot", "pan", "pane"],
    "house": ["maison", "Haus", "casa", "casa"],
    "cat": ["chat", "Katze", "gato", "gatto"],
    "dog": ["chien", "Hund", "perro", "cane"],
    "sun": ["soleil", "Sonne", "sol", "sole"],
    "moon": ["lune", "Mond", "luna", "luna"],
    "book": ["livre", "Buch", "libro", "libro"],
    "love": ["amour", "Liebe", "amor", "amore"],
    "apple": ["pomme", "Apfel", "manzana", "mela"],
    "milk": ["lait", "Milch", "leche", "latte"],
    "cheese": ["fromage", "Käse", "queso", "formaggio"],
    "coffee": ["café", "Kaffee", "café", "caffè"],
    "red": ["rouge", "rot", "rojo", "rosso"],
    "blue": ["bleu", "blau", "azul", "blu"],
    "green": ["vert", "grün", "verde", "verde"],
    "one": ["un", "eins", "uno", "uno"],
    "two": ["deux", "zwei", "dos", "due"],
    "three": ["trois", "drei", "tres", "tre"],
    "tree": ["arbre", "Baum", "árbol", "albero"],
    "flower": ["fleur", "Blume", "flor", "fiore"],
    "mother": ["mère", "Mutter", "madre", "madre"],
    "father": ["père", "Vater", "padre", "padre"],
    "bird": ["oiseau", "Vogel", "pájaro", "uccello"],
    "fish": ["poisson", "Fisch", "pez", "pesce"],
    "day": ["jour", "Tag", "día", "giorno"],
    "night": ["nuit", "Nacht", "noche", "notte"],
    "I love you": ["je t'aime", "ich liebe dich", "te quiero", "ti amo"],
    "how are you": ["comment ça va", "wie geht es dir", "cómo estás", "come stai"],
}
QUESTIONS = [
    (
        ["Why is the sky blue?", "Why's the sky blue?", "What makes the sky blue?", "Why does the sky look blue?"],
        "The sky is blue because the air scatters blue light more than red light, so blue reaches us from all sides.",
    ),
    (
        ["How many days are in a week?", "How many days does a week have?", "How many days has a week?"],
        "A week has **seven** days.",
    ),
    (
        ["How many days are in a year?", "How many days does a year have?"],
        "A year has **365** days, and a leap year has 366.",
    ),
    (["How many months are in a year?", "How many months does a year have?"], "A year has **twelve** months."),
    (["How many hours are in a day?", "How many hours does a day have?"], "A day has **24** hours."),
    (["How many minutes are in an hour?", "How many minutes does an hour have?"], "An hour has **60** minutes."),
    (["How many seconds are in a minute?", "How many seconds does a minute have?"], "A minute has **60** seconds."),
    (
        ["How many planets are there?", "How many planets does the solar system have?"],
        "There are **eight** planets in the solar system.",
    ),
    (
        [
            "What is the largest planet?",
            "Which planet is the largest?",
            "What's the biggest planet?",
            "Which planet is the biggest?",
        ],
        "The largest planet is **Jupiter**.",
    ),
    (["What is the smallest planet?", "Which planet is the smallest?"], "The smallest planet is **Mercury**."),
    (
        ["Which planet is closest to the sun?", "What planet is nearest to the sun?"],
        "**Mercury** is the planet closest to the sun.",
    ),
    (
        ["Which planet is red?", "What is the red planet?", "Which planet is called the red planet?"],
        "The red planet is **Mars**.",
    ),
    (["How many continents are there?", "How many continents does the earth have?"], "There are **seven** continents."),
    (
        ["What is the largest ocean?", "Which ocean is the largest?", "What's the biggest ocean?"],
        "The largest ocean is the **Pacific**.",
    ),
    (
        [
            "What is the highest mountain?",
            "Which mountain is the highest?",
            "What is the tallest mountain in the world?",
        ],
        "The highest mountain is **Mount Everest**.",
    ),
    (
        ["What is the largest animal?", "Which animal is the largest?", "What's the biggest animal?"],
        "The largest animal is the **blue whale**.",
    ),
    (
        ["What is the fastest animal on land?", "Which animal runs fastest?", "What's the fastest animal?"],
        "The fastest animal on land is the **cheetah**.",
    ),
    (["At what temperature does water boil?", "When does water boil?"], "Water boils at **100 °C**."),
    (["At what temperature does water freeze?", "When does water freeze?"], "Water freezes at **0 °C**."),
    (["What is water made of?", "What is the formula of water?"], "Water is made of hydrogen and oxygen: **H₂O**."),
    (
        ["Who wrote Romeo and Juliet?", "Who is the author of Romeo and Juliet?", "Who wrote Hamlet?"],
        "That was **William Shakespeare**.",
    ),
    (
        ["Who painted the Mona Lisa?", "Who is the painter of the Mona Lisa?"],
        "**Leonardo da Vinci** painted the Mona Lisa.",
    ),
    (
        ["What is the speed of light?", "How fast is light?"],
        "Light travels about **300,000 kilometres** in one second.",
    ),
    (
        ["What is the meaning of life?", "What's the meaning of life?", "What is the sense of life?"],
        "Some say **42**. I am too small to know better, but good stories and good friends surely help.",
    ),
    (["What is the colour of the sky?", "What colour is the sky?"], "The sky is **blue**."),
    (["What colour is grass?", "What is the colour of grass?"], "Grass is **green**."),
    (["What colour is a banana?", "What is the colour of a banana?"], "A banana is **yellow**."),
    (["What colour is snow?", "What is the colour of snow?"], "Snow is **white**."),
    (["What do bees make?", "What does a bee make?"], "Bees make **honey**."),
    (["What do cows eat?", "What does a cow eat?"], "Cows eat **grass**."),
    (["What do pandas eat?", "What does a panda eat?"], "Pandas eat **bamboo**."),
    (
        ["Where do penguins live?", "Where does a penguin live?"],
        "Most penguins live in the **south**, many of them in Antarctica.",
    ),
    (["What comes after Monday?", "Which day comes after Monday?"], "After Monday comes **Tuesday**."),
    (["What comes after Friday?", "Which day comes after Friday?"], "After Friday comes **Saturday**."),
    (
        ["What is the first month of the year?", "Which month is the first?"],
        "The first month of the year is **January**.",
    ),
    (
        ["What is the last month of the year?", "Which month is the last?"],
        "The last month of the year is **December**.",
    ),
    (["What is half of ten?", "What is 10 / 2?", "What is ten divided by two?"], "Half of ten is **5**."),
    (["How many legs does a table have?"], "Most tables have **four** legs."),
    (
        ["What is pi?", "What is the value of pi?"],
        "**Pi** is about 3.14159. It says how many times the diameter of a circle fits around it.",
    ),
    (
        ["What is a prime number?", "Explain prime numbers."],
        "A **prime number** can be divided only by 1 and by itself. The first ones are 2, 3, 5, 7 and 11.",
    ),
    (
        ["What is the weather like?", "What is the weather today?", "How is the weather?", "Will it rain today?"],
        "I cannot look out of the window, so I do not know the weather. I can write you a poem about rain, though.",
    ),
    (
        [
            "What time is it?",
            "What is the time?",
            "What's the time?",
            "What day is it?",
            "What is the date today?",
            "What year is it?",
        ],
        "I have no clock, so I cannot tell you that. Your computer shows it at the edge of the screen.",
    ),
    (
        ["What is the news?", "What happened today?", "What's new?", "Any news?"],
        "I know nothing about the news, because I cannot look anything up. I can tell you a story instead.",
    ),
    (
        ["Why do leaves fall?", "Why do trees lose their leaves?"],
        "Trees drop their leaves to save water and strength for the winter.",
    ),
    (
        ["Why does it rain?", "How does rain form?", "Where does rain come from?"],
        "Water rises from seas and lakes as vapour, becomes clouds, and falls down again as rain.",
    ),
    (
        ["What is a rainbow?", "Why are there rainbows?", "How does a rainbow form?"],
        "A **rainbow** appears when sunlight shines through raindrops: they split the light into its colours.",
    ),
    (
        ["Why do cats purr?", "Why does my cat purr?"],
        "Cats purr mostly when they feel well, and sometimes to calm themselves.",
    ),
    (
        ["How do birds fly?", "Why can birds fly?"],
        "Birds are light and have wings that push the air down, and so they are lifted up.",
    ),
    (
        ["How do I boil an egg?", "How long do I boil an egg?", "How do you cook an egg?"],
        "Put the egg into boiling water: about 5 minutes for a soft egg, 10 minutes for a hard one.",
    ),
    (
        ["How do I make tea?", "How do you make tea?", "How to make tea?"],
        "1. Boil some water.\n2. Pour it over the tea.\n3. Wait three minutes and enjoy.",
    ),
]


def capital(draw):
    country, city = draw.choice(list(CAPITALS.items()))
    return Turn(
        draw.phrase("capital", x=country),
        f"The capital of {country} is **{city}**.",
        f"The question is about {country}. Its capital is {city}.",
        {"family": "fact", "text": city, "country": country},
    )


def country(draw):
    country, city = draw.choice(list(CAPITALS.items()))
    if city == "London":
        country = "the United Kingdom"
    return Turn(
        draw.phrase("country", x=city),
        f"{city} is the capital of **{country}**.",
        f"{city} is a capital: that of {country}.",
        {"family": "fact", "text": country},
    )


def opposite(draw):
    a, b = draw.choice(list(OPPOSITES.items()))
    if draw.chance(0.5):
        a, b = b, a
    return Turn(
        draw.phrase("opposite", x=a),
        f"The opposite of {a} is **{b}**.",
        f"I look for the opposite of {a}: {b}.",
        {"family": "fact", "text": b},
    )


def sound(draw):
    animal, says = draw.choice(list(SOUNDS.items()))
    return Turn(
        draw.phrase("sound", x=article(animal)),
        f"{article(animal).capitalize()} **{says}**.",
        f"The sound of {article(animal)}: it {says}.",
        {"family": "fact", "text": says},
    )


def legs(draw):
    animal, count = draw.choice(list(LEGS.items()))
    answer = f"{article(animal).capitalize()} has **{count or 'no'}** legs."
    return Turn(
        draw.phrase("legs", x=article(animal)),
        answer,
        f"I count the legs of {article(animal)}: {count or 'none'}.",
        {"family": "fact", "text": str(count or "no")},
    )


def translation(draw, word=None, language=None):
    word = word or draw.choice(list(TRANSLATIONS))
    number = LANGUAGES.index(language) if language else draw.randrange(len(LANGUAGES))
    foreign = TRANSLATIONS[word][number]
    return Turn(
        draw.phrase("translate", x=word, language=LANGUAGES[number]),
        f'"{word[0].upper() + word[1:]}" in {LANGUAGES[number]} is **{foreign}**.',
        f'The user wants "{word}" in {LANGUAGES[number]}. That is {foreign}.',
        {"family": "translation", "word": word, "language": LANGUAGES[number], "text": foreign},
    )


def question(draw):
    asks, say = draw.choice(QUESTIONS)
    key = min(len(asks), 3)
    ask = draw.choice(asks[:key] if not draw.measure else asks)
    return Turn(ask, say, "I know the answer to this one.", {"family": "fact", "text": say})


def fact(draw):
    return draw.choices([capital, country, opposite, sound, legs, question], [30, 6, 14, 8, 6, 36])[0](draw)
