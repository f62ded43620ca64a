"""What has to hold of the corpus. Needs jinja2 and tokenizers, no torch.

python -m unittest discover --start-directory src-tauri/resources/demo-model/training
"""

import re
import string
import unittest

import chats
import heldout
import render
import sums
import tokenizer
import tools
from draw import Draw, held_out
from phrases import PHRASES
from sums import add, subtract
from words import COMMON, COPY_ONLY, HEROES, KIND

CHATS = 3000
CALL = re.compile(
    r"<tool_call>\n<function=([^>\n]+)>\n((?:<parameter=[^>\n]+>\n.*?\n</parameter>\n)*)</function>\n</tool_call>", re.S
)
ARGUMENT = re.compile(r"<parameter=([^>\n]+)>\n(.*?)\n</parameter>\n", re.S)


def drawn(count=CHATS, mix="long", **options):
    return (chats.chat("test", index, mix, **options) for index in range(count))


def replies(chat):
    return [message for message in chat.messages if message["role"] == "assistant"]


class Corpus(unittest.TestCase):
    def test_a_chat_is_a_function_of_seed_and_index(self):
        for index in (0, 7, 31):
            self.assertEqual(chats.chat("a", index, "long"), chats.chat("a", index, "long"))
            self.assertNotEqual(chats.chat("a", index, "long"), chats.chat("b", index, "long"))

    def test_no_training_chat_holds_a_combination_that_is_held_out(self):
        """Read from the texts, not from what the grammar says about itself."""
        stories = re.compile(r"^\*\*(?:The )?(.+?) and (?:the )?(.+?)\*\*\n")
        seen = 0
        for mix in ("copy", "mix", "long"):
            for chat in drawn(mix=mix):
                for reply in replies(chat):
                    if match := stories.match(reply["content"]):
                        hero, thing = match.groups()
                        hero = hero if hero in HEROES else hero.lower()
                        if hero in HEROES and thing in KIND:
                            self.assertFalse(held_out("story", hero, thing), reply["content"])
                            seen += 1
                    if reply["about"].get("family") == "sum":
                        a, sign, b = re.match(r"(\d+) ([+×-]) (\d+)", reply["content"]).groups()
                        pair = sorted((int(a), int(b)))
                        self.assertFalse(max(pair) > 10 and held_out(sign, *pair), reply["content"])
                        seen += 1
        self.assertGreater(seen, CHATS)

    def test_measuring_draws_held_out_combinations_only(self):
        for index in range(300):
            about = replies(chats.one(Draw(index, heldout.PHRASES, measure=True), "both"))[0]["about"]
            if about.get("family") == "story" and about["hero"] in HEROES and about["thing"] in KIND:
                self.assertTrue(held_out("story", about["hero"], about["thing"]))

    def test_held_out_forms_and_words_are_not_trained_on(self):
        self.assertEqual(set(PHRASES), set(heldout.PHRASES))
        for family, forms in heldout.PHRASES.items():
            self.assertFalse(set(forms) & set(PHRASES[family]), family)
            fields = {name for form in PHRASES[family] for _, name, _, _ in string.Formatter().parse(form)}
            for form in forms:
                self.assertLessEqual({name for _, name, _, _ in string.Formatter().parse(form)}, fields | {None}, form)
        words = {
            word.lower()
            for chat in drawn()
            for message in chat.messages
            for word in re.findall(r"\w+", message["content"])
        }
        self.assertFalse(words & set(heldout.NOUNS + heldout.MADE_UP))

    def test_words_for_copying_are_in_no_story(self):
        self.assertFalse(set(COPY_ONLY) & (set(HEROES) | set(KIND)))

    def test_a_story_has_what_was_asked_for(self):
        for index in range(500):
            chat = chats.one(Draw(index, PHRASES), "both")
            asked, told = next((a, b) for a, b in zip(chat.messages, chat.messages[1:]) if b["role"] == "assistant")
            body = told["content"].split("\n\n", 1)[1]
            for word in (told["about"]["hero"], told["about"]["thing"]):
                self.assertIn(word, asked["content"])
                self.assertRegex(body, rf"\b{re.escape(word)}\b")
            self.assertNotIn("{", told["content"])

    def test_sums_are_right(self):
        for a in range(100):
            for b in range(100):
                if max(a, b) > 10:
                    lines, result = add(a, b)
                    self.assertEqual(result, a + b)
                    self.check(lines, result)
                if a >= b and a > 10:
                    lines, result = subtract(a, b)
                    self.assertEqual(result, a - b)
                    self.check(lines, result)

    def test_drills_are_right(self):
        for index in range(300):
            for equation in sums.drill(Draw(index, PHRASES)).say.split(", "):
                left, right = equation.split(" = ")
                self.assertEqual(eval(left), int(right))
                self.assertIn(int(right), range(20))

    def check(self, lines, result):
        """Every equation of a working holds, and its digits are those of the result."""
        digits = []
        for line in lines:
            equation = line.split(": ", 1)[1].rstrip(".").replace("borrow 10, ", "").split(", ")[0]
            left, _, right = equation.partition(" = ")
            self.assertEqual(eval(left), int(right or left), line)
            digits.append(int(right or left))
        self.assertEqual(digits[0] % 10 + 10 * digits[1], result)

    def test_calls_parse_and_name_what_is_offered(self):
        calls = 0
        for index in range(500):
            chat = chats.one(Draw(index, PHRASES), "tools")
            offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in chat.tools}
            written = CALL.findall(render.render(chat).split("</tools>")[1].split("<|im_end|>", 1)[1])
            expected = [call["function"] for reply in replies(chat) for call in reply.get("tool_calls", [])]
            self.assertEqual(
                [(name, dict(ARGUMENT.findall(text))) for name, text in written],
                [(call["name"], call["arguments"]) for call in expected],
            )
            for call in expected:
                self.assertEqual(list(call["arguments"]), offered[call["name"]]["required"])
            calls += len(expected)
        self.assertGreater(calls, 300)

    def test_every_tool_can_be_asked_for_and_keeps_forms_for_measuring(self):
        for number, (*_, asks) in enumerate(tools.TOOLS):
            self.assertGreater(len(asks), 4)
            for measure in (False, True):
                draw = Draw(number, PHRASES, measure)
                call = tools.use(draw, tools.offer(draw, number))
                self.assertNotIn("{", call.ask)
                for value in call.arguments.values():
                    self.assertIn(value, call.ask)

    def test_text_of_replies_is_tidy(self):
        for chat in drawn():
            for message in chat.messages:
                self.assertEqual(message["content"], message["content"].strip(), message)
                for mistake in ("  ", " .", " ,", " a a", " a e", " the the ", "..", "None", "an un"):
                    if message["role"] == "assistant" and message["about"].get("family") in (
                        "story",
                        "poem",
                        "about",
                        "decline",
                    ):
                        said = message["content"].replace(str(message["about"].get("topic")), "x")
                        self.assertNotIn(mistake, said, message)


class Rendering(unittest.TestCase):
    def setUp(self):
        self.encoder = render.Encoder(tokenizer.load())

    def test_every_chat_becomes_ids_and_back(self):
        for chat in drawn():
            text = render.render(chat)
            ids, wanted = self.encoder.rows(chat)
            self.assertEqual(len(ids), len(wanted))
            self.assertTrue(text.startswith(self.encoder.tokenizer.decode(ids, skip_special_tokens=False)))
            self.assertLess(len(ids), 1024)
            self.assertNotIn(self.encoder.tokenizer.token_to_id(render.MASK), ids)

    def test_what_is_learned_is_what_follows_the_prompt(self):
        """The prompt that the app renders is the part of the row that is not learned, token by token."""
        for chat in drawn(500):
            ids, wanted = self.encoder.rows(chat)
            prompt = self.encoder.prompt(chat)
            self.assertEqual(ids[: len(prompt)], prompt)
            self.assertEqual(set(wanted[len(prompt) :]), {1})
            self.assertEqual(wanted[len(prompt) - 1], 0)
            self.assertEqual(ids[-1], self.encoder.end)

    def test_thinking_of_finished_turns_is_left_out(self):
        for chat in drawn(500):
            text = render.render(chat)
            last = max(i for i, m in enumerate(chat.messages) if m["role"] == "user")
            self.assertEqual(text.count("<think>"), sum(m["role"] == "assistant" for m in chat.messages[last:]))

    def test_common_words_fall_into_few_pieces(self):
        pieces = [len(self.encoder.tokenizer.encode(" " + word).ids) for word in COMMON]
        self.assertLess(sum(pieces) / len(pieces), 3)


if __name__ == "__main__":
    unittest.main()
