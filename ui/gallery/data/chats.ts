import type {
  BranchMessage,
  ChatSummary,
  DraftRun,
  Message,
  MessagePicture,
  OpenedChat,
  ReplyStats,
} from "../../src/bridge/bindings";
import { chatSummary, replyStats } from "../../src/chat/samples";
import { ago, DAY, MINUTE } from "../clock";
import { RECOMMENDED } from "./models";

const chat = (id: number, title: string, age: number, more: Partial<ChatSummary> = {}): ChatSummary =>
  chatSummary(id, { title, created_at: ago(age + MINUTE), updated_at: ago(age), ...more });

export const PINNED = chat(1, "Letter to the landlord", 2 * DAY, { pinned: true });
export const SOURDOUGH = chat(3, "Sourdough at 16 °C", 8 * MINUTE, { tags: ["kitchen"] });
export const BORROW = chat(5, "Why the borrow checker is right", 40 * MINUTE, { tags: ["rust"] });

export const RECIPE = chat(6, "Translate a recipe card", 130 * MINUTE, { tags: ["kitchen"] });

/** The list of chats. */
export const CHATS: ChatSummary[] = [
  PINNED,
  chat(2, "Words I keep looking up", 3 * DAY, { pinned: true }),
  SOURDOUGH,
  BORROW,
  RECIPE,
  chat(7, "Lisbon by train in April", DAY),
  chat(8, "Unit tests for the parser", DAY + 60 * MINUTE, { tags: ["rust"] }),
  chat(9, "Peace of Westphalia, in brief", DAY + 90 * MINUTE),
  chat(10, "A knot for the hammock", 5 * DAY),
  chat(11, "Quantising the 27B to 4 bits", 6 * DAY),
  chat(12, "Names for a grey cat", 6 * DAY + MINUTE),
];

/** A reply with two or three guesses a pass, of which four in five were right. */
export const STATS: ReplyStats = replyStats({
  prompt_tokens: 214,
  cached_tokens: 0,
  emitted: 377,
  steps: 157,
  tokens_per_pass: 2.4,
  tokens_per_second: 58,
  prefill_seconds: 0.21,
  decode_seconds: 6.5,
  time_to_first_token_seconds: 0.24,
  draft_seconds: 0.9,
  verify_seconds: 4.9,
  sample_seconds: 0.3,
  host_seconds: 0.4,
  peak_memory_bytes: 18.2e9,
  positions: [
    { drafted: 157, accepted: 135 },
    { drafted: 84, accepted: 65 },
    { drafted: 31, accepted: 20 },
  ],
  thinking: { emitted: 96, steps: 44, drafted: 70, accepted: 52, seconds: 1.7, cut: false },
  depth: {
    steps_per_entry: 8,
    depths: [1, 1.4, 1.6, 2, 1.8, 1.5, 2.1, 1.9, 1.7, 2.2, 2, 1.4, 1.6, 1.9, 2, 1.8, 1.7, 1.6, 2, 1.9],
  },
  passes: [2, 1, 0, 2, 2, 1, 3, 0, 1, 2, 2, 1, 0, 2, 3, 1, 2, 2, 0, 1, 2, 2],
  sampling: { ...RECOMMENDED, seed: 42 },
  seed: 42,
  plain: { tokens_per_second: 30.5, source: "tune", measured_at: ago(3 * DAY) },
});

/** How often a word is right that was guessed so far ahead. */
const CHANCES = [0.78, 0.7, 0.5];

/** Where the words of a text came from: the same each time, about as a model with 2.4 words a pass would have it. */
export function runs(text: string): DraftRun[] {
  const found: DraftRun[] = [];
  let seed = 7;
  let place = 0;
  for (const [word] of text.matchAll(/\s*\S+|\s+$/g)) {
    found.push([word.length, place]);
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    const right = seed / 2 ** 31 < (CHANCES[place] ?? 0);
    place = right ? place + 1 : 0;
  }
  return found;
}

const message = (id: number, parent: number | null, more: Partial<Message>): BranchMessage => ({
  message: {
    id,
    parent,
    role: "assistant",
    text: "",
    pictures: [],
    thinking: "",
    steps: [],
    edited: false,
    status: { state: "finished", reason: "stop" },
    stats: null,
    error: null,
    model: "Qwen3.6 27B",
    created_at: ago(8 * MINUTE),
    ...more,
  },
  versions: [id],
});

/** A question of the person's. */
export const question = (
  id: number,
  parent: number | null,
  text: string,
  pictures: MessagePicture[] = [],
): BranchMessage => message(id, parent, { role: "user", text, pictures, model: null });

/** A picture of a bowl on a board. */
export const BOWL: MessagePicture = {
  hash: "b0".repeat(32),
  name: "starter.png",
  format: "png",
  detail: "standard",
  width: 1344,
  height: 768,
  tokens: 1008,
  bytes: 1.3e6,
  missing: false,
};

/** What people see of it. */
export const BOWL_VIEW = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" width="1344" height="768"><rect width="1344" height="768" fill="#8a7a63"/>
  <rect y="520" width="1344" height="248" fill="#5d4a35"/><path d="M372 300h600c0 190-110 330-300 330S372 490 372 300z"
  fill="#dfe3e6"/><ellipse cx="672" cy="300" rx="300" ry="70" fill="#f3e6c8"/></svg>`,
)}`;

/** A reply that is written. */
export const reply = (id: number, parent: number, text: string, more: Partial<Message> = {}): BranchMessage =>
  message(id, parent, { text, stats: STATS, ...more });

/** A chat as it opens. */
export const opened = (
  chat: ChatSummary,
  messages: BranchMessage[],
  more: Partial<OpenedChat> = {},
): OpenedChat => ({
  chat,
  settings: {
    system_prompt: "",
    without_standing: false,
    without_project: false,
    generation: null,
    preset: null,
    tools: [],
  },
  draft: { text: "", files: [], pictures: [] },
  edits: [],
  messages,
  ...more,
});

export const STARTER_QUESTION = "My kitchen is 16 °C and the starter hardly rises. What should I change?";

export const STARTER_THOUGHT =
  "They ask about a sourdough starter in a cold kitchen. What matters is temperature, hydration and the ratio of old starter to flour. A stiffer dough shows the rise, and more old starter brings more yeast. They may not be able to warm the room.";

export const STARTER_REPLY = `A starter slows down in the cold, but it does not stop. At 16 °C the yeast works at about a third of the speed it has at 24 °C, and the bacteria slow down less than the yeast does. So a cold starter turns sour before it turns light.

Three changes help, and none of them needs a warmer room:

1. **Feed it thicker.** Use 50 g of starter, 50 g of flour and 35 g of water. A stiff dough holds its gas, so you see the rise.
2. **Feed it sooner, with less.** Keep more of the old starter, one part to one part flour, so that there is more yeast at work from the first hour.
3. **Give it time, and watch the dome.** At this temperature it needs ten to fourteen hours. Do not go by the clock: it is ready when the dome is still round and a spoonful floats in water. If the dome has fallen in the middle, it has waited too long, and the next feeding should come two hours earlier.`;

export const BORROW_QUESTION = "Why may I not push to a vector while I iterate over it?";

export const BORROW_REPLY = `Because the iterator holds a reference into the vector's memory. A \`push\` may need more room, and then the vector moves: the reference would point at memory that is no longer its own.

In C++ the same code compiles and fails on some days. In Rust the iterator borrows the vector for as long as it lives, so the compiler can say no before anything runs. To add while you read, collect first and extend after:

\`\`\`rust
let more: Vec<_> = words.iter().filter(|w| w.len() > 4).cloned().collect();
words.extend(more);
\`\`\``;

/** Files as they stand in a message. */
const ITERATORS = `\n\nFile: iterators.rs\n\`\`\`\n${"pub fn longest(words: &[String]) -> Option<&String> {\n    words.iter().max_by_key(|word| word.len())\n}\n".repeat(58)}\n\`\`\``;
const LIFETIMES = `\n\nFile: notes on lifetimes.md\n\`\`\`\n${"A reference may not outlive what it refers to.\n".repeat(192)}\n\`\`\``;

/** A chat with files and instructions, which fill half of its context. */
export const BORROW_CHAT = opened(
  BORROW,
  [
    question(51, null, BORROW_QUESTION + ITERATORS + LIFETIMES),
    reply(52, 51, BORROW_REPLY, {
      stats: { ...STATS, prompt_tokens: 18_043, cached_tokens: 13_420, chat_bytes: 1.4e9 },
    }),
  ],
  {
    settings: {
      system_prompt:
        "I know C++ and learn Rust. Show short examples that compile on stable, and say what they would do wrong in C++.",
      without_standing: false,
      without_project: false,
      generation: null,
      preset: null,
      tools: [],
    },
  },
);

export const SOURDOUGH_CHAT = opened(SOURDOUGH, [
  question(31, null, STARTER_QUESTION),
  reply(32, 31, STARTER_REPLY, { thinking: STARTER_THOUGHT }),
]);
