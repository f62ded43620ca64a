"""Sums, differences and small products, worked out digit by digit."""

from draw import Turn

THINGS = "apples books coins eggs stamps marbles cookies pens cards stones balls tickets".split()


def add(a, b):
    """The working of a + b, two digits at most, as lines; the result is on the last."""
    ones, tens = a % 10 + b % 10, [n // 10 for n in (a, b) if n > 9]
    carry = ones > 9
    lines = [f"Ones: {a % 10} + {b % 10} = {ones}{', carry 1' if carry else ''}."]
    tens += [1] if carry else []
    lines.append(f"Tens: {' + '.join(map(str, tens))}{f' = {sum(tens)}' if len(tens) > 1 else ''}.")
    return lines, a + b


def subtract(a, b):
    """The working of a − b for a ≥ b."""
    borrow = a % 10 < b % 10
    top = a % 10 + (10 if borrow else 0)
    lines = [f"Ones: {'borrow 10, ' if borrow else ''}{top} - {b % 10} = {top - b % 10}."]
    tens = [a // 10] + ([1] if borrow else []) + ([b // 10] if b > 9 else [])
    left = tens[0] - sum(tens[1:])
    lines.append(f"Tens: {' - '.join(map(str, tens))}{f' = {left}' if len(tens) > 1 else ''}.")
    return lines, a - b


def work_out(expression, lines, result, then=""):
    """Turns a working into what is said without thinking, and with it: the thinking and the line below."""
    short = f"{expression} = **{result}**{then}"
    if not lines:
        return short, f"I work out {expression}. That is {result}."
    working = "\n".join([expression, *lines])
    return f"{working}\nSo {short}", f"{working}\nSo it is {result}."


def turn(ask, expression, lines, result, then=""):
    say, think = work_out(expression, lines, result, then)
    if lines:
        # With thinking on the working is in the thinking, and the answer is the line alone.
        short = say.rsplit("\nSo ", 1)[1]
        return Turn(ask, say, think, {"family": "sum", "expression": expression, "result": result, "after": short})
    return Turn(ask, say, think, {"family": "sum", "expression": expression, "result": result})


def operands(draw, operation):
    def pair():
        kind = draw.choices(["large", "mixed", "small"], [6, 3, 1])[0]
        a, b = (
            (draw.randint(21, 99), draw.randint(21, 99))
            if kind == "large"
            else (draw.randint(0, 99), draw.randint(0, 99))
            if kind == "mixed"
            else (draw.randint(0, 10), draw.randint(0, 10))
        )
        # Carrying is as frequent as not carrying.
        if (
            operation == "+"
            and (a % 10 + b % 10 > 9) != draw.carry
            or operation == "-"
            and (a % 10 < b % 10) != draw.carry
        ):
            return None
        return a, b

    draw.carry = draw.chance(0.5)
    while True:
        drawn = pair()
        # A pair is held out in both orders and in every form. Small ones are parts of others, and so none is.
        if drawn and (draw.allowed(operation, *sorted(drawn)) if max(drawn) > 10 else not draw.measure):
            return drawn


def plus(draw, a, b, ask):
    expression = f"{a} + {b}"
    return turn(ask, expression, *((None, a + b) if max(a, b) < 11 else add(a, b)))


def minus(draw, a, b, ask):
    expression = f"{a} - {b}"
    if a < b:
        lines, result = subtract(b, a)
        return turn(ask, expression, [f"{a} is less than {b}, so it is below zero: {b} - {a}.", *lines], -result)
    return turn(ask, expression, *((None, a - b) if a < 11 else subtract(a, b)))


def drill(draw):
    """Several of the small steps that larger sums are made of."""

    def step():
        a, b = draw.randint(0, 9), draw.randint(0, 9)
        form = draw.choices(["+", "+1", "-", "borrow", "-1"], [8, 4, 3, 5, 3])[0]
        if form == "+":
            return f"{a} + {b}"
        if form == "+1":
            return f"{a} + {b} + 1"
        if form == "borrow":
            return f"{10 + min(a, b)} - {max(a, b)}"
        return f"{max(a, b)} - {min(a, b)}" if form == "-" else f"{max(a, b) + 1} - 1 - {min(a, b)}"

    steps = [step() for _ in range(draw.randint(3, 10))]
    text = ", ".join(f"{s} = {eval(s)}" for s in steps)
    return Turn(
        draw.phrase("drill", x=", ".join(steps)),
        text,
        "I work them out one after the other.",
        {"family": "drill", "text": text},
    )


def sum_or_difference(draw):
    """A question that people type: a sum, a difference, a product, a small word problem."""
    form = draw.choices(["+", "-", "*", "problem"], [52, 30, 8, 10])[0]
    if form == "*":
        # These are known by heart, and so none is held out.
        a, b = draw.randint(0, 10), draw.randint(0, 10)
        return turn(draw.phrase("times", a=a, b=b), f"{a} × {b}", None, a * b)
    operation = form if form != "problem" else draw.choice("+-")
    a, b = operands(draw, operation)
    if operation == "-" and a < b and (form == "problem" or draw.chance(0.85)):
        a, b = b, a
        if draw.carry != (a % 10 < b % 10) and draw.chance(0.8):
            return sum_or_difference(draw)
    if form == "problem":
        things = draw.choice(THINGS)
        made = (plus if operation == "+" else minus)(
            draw, a, b, draw.phrase("problem" + operation, a=a, b=b, things=things)
        )
        then = f": you have {made.about['result']} {things}."
        made.say += then
        if "after" in made.about:
            made.about["after"] += then
        return made
    return (plus if form == "+" else minus)(draw, a, b, draw.phrase("plus" if form == "+" else "minus", a=a, b=b))
