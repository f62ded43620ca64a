"""A few lines of code in Python, JavaScript and a shell."""

from draw import Turn
from words import COMMON

# What a function does, its usual name and its parameters, its body in Python and in JavaScript.
FUNCTIONS = [
    ("adds two numbers", "add", "a, b", ["return a + b"], ["return a + b;"]),
    ("multiplies two numbers", "multiply", "a, b", ["return a * b"], ["return a * b;"]),
    ("returns the larger of two numbers", "larger", "a, b", ["return a if a > b else b"], ["return a > b ? a : b;"]),
    ("returns the smaller of two numbers", "smaller", "a, b", ["return a if a < b else b"], ["return a < b ? a : b;"]),
    ("says hello", "hello", "name", ['print("Hello, " + name)'], ['console.log("Hello, " + name);']),
    ("squares a number", "square", "n", ["return n * n"], ["return n * n;"]),
    ("tells whether a number is even", "is_even", "n", ["return n % 2 == 0"], ["return n % 2 === 0;"]),
    ("tells whether a number is odd", "is_odd", "n", ["return n % 2 == 1"], ["return n % 2 === 1;"]),
    ("reverses a string", "reverse", "text", ["return text[::-1]"], ['return [...text].reverse().join("");']),
    ("sums a list", "total", "numbers", ["return sum(numbers)"], ["return numbers.reduce((a, b) => a + b, 0);"]),
    (
        "finds the largest number in a list",
        "largest",
        "numbers",
        ["return max(numbers)"],
        ["return Math.max(...numbers);"],
    ),
    (
        "counts the words in a text",
        "count_words",
        "text",
        ["return len(text.split())"],
        ['return text.split(" ").length;'],
    ),
    (
        "computes the average of a list",
        "average",
        "numbers",
        ["return sum(numbers) / len(numbers)"],
        ["return numbers.reduce((a, b) => a + b, 0) / numbers.length;"],
    ),
    (
        "tells whether a word is a palindrome",
        "is_palindrome",
        "word",
        ["return word == word[::-1]"],
        ['return word === [...word].reverse().join("");'],
    ),
    (
        "computes the factorial of a number",
        "factorial",
        "n",
        ["if n < 2:", "    return 1", "return n * factorial(n - 1)"],
        ["if (n < 2) return 1;", "return n * factorial(n - 1);"],
    ),
    (
        "turns Celsius into Fahrenheit",
        "to_fahrenheit",
        "celsius",
        ["return celsius * 9 / 5 + 32"],
        ["return celsius * 9 / 5 + 32;"],
    ),
    (
        "counts from 1 to n",
        "count",
        "n",
        ["for i in range(1, n + 1):", "    print(i)"],
        ["for (let i = 1; i <= n; i++) {", "    console.log(i);", "}"],
    ),
    ("removes duplicates from a list", "unique", "items", ["return list(set(items))"], ["return [...new Set(items)];"]),
    ("sorts a list", "sort_list", "items", ["return sorted(items)"], ["return [...items].sort();"]),
    ("reads a file", "read_file", "path", ["with open(path) as file:", "    return file.read()"], None),
    ("tells whether a number is prime", "is_prime", "n", ["return n > 1 and all(n % i for i in range(2, n))"], None),
    (
        "computes Fibonacci numbers",
        "fibonacci",
        "n",
        ["a, b = 0, 1", "for _ in range(n):", "    a, b = b, a + b", "return a"],
        None,
    ),
    ("counts the vowels in a text", "count_vowels", "text", ['return sum(letter in "aeiou" for letter in text)'], None),
    ("joins two strings", "join", "a, b", ["return a + b"], ["return a + b;"]),
    (
        "prints all items of a list",
        "show",
        "items",
        ["for item in items:", "    print(item)"],
        ["for (const item of items) {", "    console.log(item);", "}"],
    ),
]
HELLO = {
    "Python": ("python", 'print("Hello, world!")'),
    "JavaScript": ("javascript", 'console.log("Hello, world!");'),
    "Rust": ("rust", 'fn main() {\n    println!("Hello, world!");\n}'),
    "C": ("c", '#include <stdio.h>\n\nint main(void) {\n    puts("Hello, world!");\n}'),
    "HTML": ("html", "<h1>Hello, world!</h1>"),
    "Bash": ("bash", 'echo "Hello, world!"'),
}
COMMANDS = [
    ("list the files in a folder", "ls"),
    ("show the current folder", "pwd"),
    ("copy a file", "cp old.txt new.txt"),
    ("delete a file", "rm file.txt"),
    ("rename a file", "mv old.txt new.txt"),
    ("create a folder", "mkdir folder"),
    ("show a file", "cat file.txt"),
    ("find a word in a file", "grep word file.txt"),
    ("count the lines of a file", "wc -l file.txt"),
]


def block(language, text):
    return f"```{language}\n{text}\n```"


def function(draw):
    what, name, parameters, python, javascript = draw.choice(FUNCTIONS)
    own = draw.chance(0.25)
    if own:
        name = draw.choice([w for w in draw.sample(COMMON, 8) if w.islower()])
    if javascript and draw.chance(0.2):
        body = "\n".join("    " + line for line in javascript).replace("factorial(", name + "(")
        text, language = f"function {name}({parameters}) {{\n{body}\n}}", "JavaScript"
    else:
        body = "\n".join("    " + line for line in python).replace("factorial(", name + "(")
        text, language = f"def {name}({parameters}):\n{body}", "Python"
    form = "function named" if own else "function"
    asked = language if language == "JavaScript" or draw.chance(0.6) else None
    ask = (
        draw.phrase(form, what=what, n=name, language=asked) if asked else draw.phrase(form + " any", what=what, n=name)
    )
    called = f" `{name}`" if own else ""
    return Turn(
        ask,
        f"This {language} function{called} {what}:\n\n{block(language.lower(), text)}",
        f"The user wants a function that {what}{' and is called ' + name if own else ''}.",
        {"family": "code", "language": language, "name": name, "what": what},
    )


def hello(draw):
    language = draw.choice(list(HELLO))
    return Turn(
        draw.phrase("hello world", language=language),
        f"Hello world in {language}:\n\n{block(*HELLO[language])}",
        f"The user wants hello world in {language}.",
        {"family": "code", "language": language},
    )


def command(draw):
    what, text = draw.choice(COMMANDS)
    return Turn(
        draw.phrase("command", x=what),
        f"To {what}:\n\n{block('bash', text)}",
        f"The user wants to {what} in a terminal.",
        {"family": "code", "language": "bash", "what": what},
    )


def program(draw):
    return draw.choices([function, hello, command], [7, 2, 2])[0](draw)
