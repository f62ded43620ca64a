import { sentencesOf } from "../../src/aloud/sentences";
import {
  type BranchMessage,
  DEFAULT_PREFERENCES,
  type ErrorReport,
  FIRST_TEMPORARY,
  type Message,
  type MessagePicture,
} from "../../src/bridge/bindings";
import { withFiles } from "../../src/chat/attachments";
import { withPassages } from "../../src/chat/longFiles";
import { compareVersions } from "../../src/chat/sideBySide";
import { findHere } from "../../src/find/actions";
import { t } from "../../src/language/text";
import { job } from "../../src/models/samples";
import { setView } from "../../src/state/store";
import {
  BORROW,
  BORROW_CHAT,
  BORROW_QUESTION,
  BORROW_REPLY,
  BOWL,
  BOWL_VIEW,
  opened,
  question,
  RECIPE,
  reply,
  SOURDOUGH,
  SOURDOUGH_CHAT,
  STARTER_QUESTION,
  STARTER_REPLY,
  STARTER_THOUGHT,
  STATS,
} from "../data/chats";
import { MACS_RING } from "../data/macs";
import {
  DEMO,
  DEMO_LOADED,
  DEMO_MODEL,
  ENTRIES,
  elsewhere,
  LARGE,
  LARGE_MODEL,
  LOADED,
  RECOMMENDED,
  SMALL,
  SUITED,
} from "../data/models";
import { GENERATION } from "../data/snapshot";
import { LIVE, Stream } from "../data/streaming";
import { click, pass, type } from "../page";
import { silence } from "../shell";
import type { State } from "../state";

/** A chat that has no room for another question. */
const FULL_CHAT = opened(SOURDOUGH, [
  question(31, null, STARTER_QUESTION),
  reply(32, 31, STARTER_REPLY, { stats: { ...STATS, prompt_tokens: 32_700 } }),
]);

/** What the model has written of the older part of a chat. */
const SUMMARY: BranchMessage = {
  message: {
    ...question(30, null, "").message,
    role: "system",
    text: "You bake **sourdough with rye** and have a starter that is three weeks old. It doubles in six hours at 24 °C; below 20 °C it takes a night.\n\n- Flour: rye 1150, from the mill in the next village\n- Agreed: feed it 1 : 2 : 2, and keep 40 g\n- Open: why the crust tears on one side",
    model: "Qwen3.6 27B",
  },
  versions: [29, 30],
};

/** A model whose conversion left out its head and its vision tower answers. */
const STRIPPED = {
  engine: {
    state: "ready",
    model: {
      ...LOADED,
      name: "Qwen3.5 9B",
      path: SMALL,
      format: "8-bit",
      mtp: { state: "stripped" },
      pictures: { state: "unavailable", reason: { kind: "left_out" } },
      draft_model: null,
    },
    device: "metal",
    in_memory: true,
  },
  selected_model: SMALL,
} as const;

/** A sheet of which not all was read. */
const SIGHTINGS = `## Sheet: Sightings

[Only the first 20000 of 48210 rows of the sheet “Sightings” were read.]

${"Snowy owl,2024-03-01,07:30\n".repeat(400)}`;

/** A reply to which passages of a long file went. */
const SOURCES = opened(SOURDOUGH, [
  question(
    31,
    null,
    withFiles("Why does my sourdough starter not rise?", [
      {
        name: "the long book of bread.pdf",
        text: withPassages([
          {
            place: "Page 41",
            text: "A starter that does not rise is cold, hungry or young. At 24 °C it doubles within six hours of a meal; at 18 °C it may take a night.\n\nFeed it twice a day until it does.",
          },
          {
            place: "Page 112",
            text: "Sourdough made with rye rises sooner, since rye feeds the yeasts longer.",
          },
        ]),
      },
    ]),
  ),
  reply(
    32,
    31,
    "It is probably **cold or hungry**: at 18 °C a starter may take a night to rise. Keep it at about 24 °C and feed it twice a day; some rye helps.",
  ),
]);

const EMPTY = { chats: { chats: [], next: null, total: 0 }, tags: [] };

const DEMO_READY = {
  engine: { state: "ready", model: DEMO_LOADED, device: "metal", in_memory: true },
  selected_model: DEMO,
} as const;

/** A chat whose reply is being written; `act` says how far. */
function streaming(
  name: string,
  act: (stream: Stream) => Promise<void>,
  {
    of = SOURDOUGH,
    asked = STARTER_QUESTION,
    more = {},
    pictures = [],
  }: {
    of?: typeof SOURDOUGH;
    asked?: string;
    more?: State["snapshot"];
    pictures?: MessagePicture[];
  } = {},
): State {
  const stream = new Stream(of, [question(31, null, asked, pictures)]);
  const answers = { ...stream.answers, pictureView: () => BOWL_VIEW };
  return { name, snapshot: { open: stream.open, ...more }, answers, act: () => act(stream) };
}

/** A chat whose reply has ended in this way. */
const ended = (name: string, more: Partial<Message>): State => ({
  name,
  snapshot: {
    open: opened(SOURDOUGH, [
      question(31, null, STARTER_QUESTION),
      reply(32, 31, STARTER_REPLY.slice(0, 640), more),
    ]),
  },
});

const DIED: ErrorReport = {
  code: "engine_died",
  message: "The engine stopped and is running again.",
  hint: "Its process ended while it wrote.",
};

const NO_MEMORY: ErrorReport = {
  code: "out_of_memory",
  message: "This model needs 6 GB more.",
  hint: "It takes 44.9 GB, and 39 GB are free. Close other programs, or use a smaller model.",
};

const LINE = "averyverylongwordwithoutanyplacetobreakit".repeat(6);

const WIDE = `A word that is wider than the page: ${LINE}

| Country | Capital | Inhabitants | Area in km² | Currency | Time zone | Calling code | Top-level domain |
| --- | --- | ---: | ---: | --- | --- | --- | --- |
| Portugal | Lisbon | 10,639,726 | 92,230 | Euro | UTC+0 | +351 | .pt |
| New Zealand | Wellington | 5,338,500 | 268,838 | New Zealand dollar | UTC+12 | +64 | .nz |

\`\`\`python
print("${LINE}")
\`\`\`

> What is quoted has a line beside it, and [links](https://example.com/a/long/address) show where they lead.`;

const RIGHT_TO_LEFT = `لأن العجين يبرد ببطء، فالخميرة تعمل أبطأ. ثلاثة أشياء تساعد:

1. أطعمها بماء أقل.
2. أطعمها أكثر.
3. انتظر حتى ترتفع.`;

export const CHAT: State[] = [
  {
    name: "first-start",
    snapshot: { ...EMPTY, ...DEMO_READY, models: ENTRIES.slice(2) },
    library: {
      models: [DEMO_MODEL, elsewhere("/lm-studio/Qwen3.5-9B-8bit"), elsewhere("/lm-studio/Qwen3.5-2B-4bit")],
      draft_models: [],
    },
    answers: { catalogue: () => [SUITED] },
  },
  {
    name: "first-start-coming",
    snapshot: { ...EMPTY, ...DEMO_READY, models: ENTRIES.slice(2) },
    library: {
      models: [DEMO_MODEL],
      draft_models: [],
      jobs: [
        job(
          1,
          { stage: "downloading" },
          {
            name: "Qwen3.5 4B",
            repo: "Qwen/Qwen3.5-4B",
            done: 0.9e9,
            total: 2.6e9,
            bytes_per_second: 31e6,
            seconds_left: 55,
          },
        ),
      ],
    },
  },
  {
    name: "first-start-here",
    snapshot: { ...EMPTY, ...DEMO_READY },
    library: { models: [DEMO_MODEL, LARGE_MODEL] },
  },
  {
    name: "first-start-unknown",
    snapshot: { ...EMPTY, ...DEMO_READY, models: ENTRIES.slice(2) },
    library: { models: [DEMO_MODEL], draft_models: [] },
    answers: { catalogue: () => [] },
  },
  { name: "empty-chat" },
  {
    name: "no-model",
    snapshot: {
      ...EMPTY,
      models: [],
      selected_model: "",
      engine: {
        state: "failed",
        error: {
          code: "no_model",
          message: "No model is loaded.",
          hint: "Choose a model.",
        },
        model: null,
      },
    },
    library: { models: [], draft_models: [] },
  },
  {
    name: "loading",
    snapshot: { engine: { state: "loading", path: LARGE, done: 9.2e9, total: 15.1e9 } },
  },
  {
    name: "engine-failed",
    snapshot: { engine: { state: "failed", error: NO_MEMORY, model: null }, open: SOURDOUGH_CHAT },
  },
  {
    name: "chats-damaged",
    snapshot: {
      ...EMPTY,
      trouble: {
        error: {
          code: "chats_corrupt",
          message: "The file with the chats does not read as it was written.",
          hint: "A copy that was made before can take its place.",
        },
        backups: [{ path: "/backup", made_at: Date.UTC(2026, 2, 11, 18, 4), bytes: 8.4e6 }],
      },
    },
  },
  streaming("waiting", (stream) => stream.tell({ type: "waiting", ahead: 2 })),
  streaming("reading", async (stream) => {
    await stream.tell({ type: "reading", done: 6144, total: 18_902, cached: 6144, looked: null });
    await pass(6100);
    await stream.tell({ type: "reading", done: 12_480, total: 18_902, cached: 6144, looked: null });
    await new Promise((calm) => setTimeout(calm, 300));
  }),
  streaming(
    "looking",
    async (stream) => {
      await stream.tell({
        type: "reading",
        done: 0,
        total: 1104,
        cached: 0,
        looked: { done: 15, total: 27 },
      });
      await new Promise((calm) => setTimeout(calm, 300));
    },
    { pictures: [BOWL] },
  ),
  streaming("thinking", async (stream) => {
    await stream.think(STARTER_THOUGHT);
    await stream.tell({ type: "live", stats: LIVE });
    await click("thinking-toggle");
  }),
  streaming("writing", async (stream) => {
    await stream.think(STARTER_THOUGHT);
    await pass(6000);
    await stream.write(STARTER_REPLY.slice(0, -7), 300);
    await stream.tell({ type: "live", stats: LIVE });
  }),
  streaming(
    "writing-code",
    async (stream) => {
      await stream.write(BORROW_REPLY.slice(0, -12), 260);
      await stream.tell({ type: "live", stats: LIVE });
    },
    { of: BORROW, asked: BORROW_QUESTION },
  ),
  {
    name: "reply",
    snapshot: { open: SOURDOUGH_CHAT },
  },
  {
    name: "panel-reply",
    snapshot: { open: BORROW_CHAT },
    act: () => click("reply-footer"),
  },
  {
    name: "panel-reply-slower",
    snapshot: {
      open: opened(BORROW, [
        question(51, null, BORROW_QUESTION),
        reply(52, 51, BORROW_REPLY, {
          stats: {
            ...STATS,
            tokens_per_second: 27,
            plain: { tokens_per_second: 31, source: "tune", measured_at: 0 },
          },
        }),
      ]),
    },
    act: () => click("reply-footer"),
  },
  {
    name: "panel-folds",
    snapshot: { open: BORROW_CHAT },
    act: async () => {
      await click("reply-footer");
      for (const fold of ["speed", "guesses", "parts", "time"]) await click(`fold-${fold}`);
    },
  },
  {
    name: "pictures",
    snapshot: {
      ...STRIPPED,
      open: opened(SOURDOUGH, [
        question(31, null, "Is this starter ripe?", [BOWL]),
        reply(32, 31, STARTER_REPLY.slice(0, STARTER_REPLY.indexOf("\n")), {
          stats: { ...STATS, prompt_tokens: 1104, pictures: 1, picture_tokens: 1008, tower_seconds: 0.6 },
        }),
      ]),
    },
    answers: { pictureView: () => BOWL_VIEW },
    act: async () => {
      await click("reply-footer");
      await click("fold-prompt");
    },
  },
  {
    name: "pictures-unseen",
    snapshot: {
      ...STRIPPED,
      open: opened(SOURDOUGH, [
        question(31, null, "Is this starter ripe?", [BOWL, { ...BOWL, hash: "gone", missing: true }]),
        reply(32, 31, "I was told of two pictures but cannot see them. How does it smell?", {
          stats: { ...STATS, unseen: { no_sight: 1, no_room: 0, missing: 1, undecoded: 0 } },
        }),
      ]),
    },
    answers: { pictureView: () => BOWL_VIEW },
    act: async () => {
      await click("reply-footer");
      await click("fold-prompt");
    },
  },
  {
    name: "panel-chat",
    snapshot: { open: BORROW_CHAT },
    act: () => setView({ inspector: true, inspectorPage: "chat" }),
  },
  {
    name: "panel-chat-macs",
    snapshot: {
      open: BORROW_CHAT,
      engine: {
        state: "ready",
        model: { ...LOADED, macs: MACS_RING.macs.map(({ name, layers }) => ({ name, layers })) },
        device: "metal",
        in_memory: true,
      },
      ring: MACS_RING,
    },
    act: () => setView({ inspector: true, inspectorPage: "chat" }),
  },
  {
    name: "mac-lost",
    snapshot: {
      open: SOURDOUGH_CHAT,
      engine: {
        state: "failed",
        error: {
          code: "mac_lost",
          message: "Studio does not answer any more.",
          hint: "Check that the other Macs are awake, connected and running Foretoken, then load the model again.",
        },
        model: null,
      },
    },
  },
  {
    name: "guesses-shown",
    snapshot: { open: SOURDOUGH_CHAT, reveal_drafts: true },
    act: () => click("thinking-toggle"),
  },
  ended("stopped", { status: { state: "finished", reason: "cancelled" } }),
  ended("cut", { status: { state: "finished", reason: "length" } }),
  ended("interrupted", { status: { state: "interrupted" }, stats: null }),
  ended("failed", { status: { state: "finished", reason: "error" }, error: DIED }),
  {
    name: "update",
    snapshot: {
      open: SOURDOUGH_CHAT,
      updates: {
        state: "available",
        release: {
          version: "1.1.0",
          notes:
            "### New\n\n- **Projects**: chats that share files and instructions.\n\n### Fixed\n\n- A table that is cut keeps its header.",
          bytes: 115_000_000,
        },
        postponed: false,
      },
    },
    act: () => click("update-row"),
  },
  { name: "mtp-menu", snapshot: { open: SOURDOUGH_CHAT }, act: () => click("mtp-control") },
  {
    name: "mtp-menu-no-head",
    snapshot: {
      open: SOURDOUGH_CHAT,
      ...STRIPPED,
    },
    act: () => click("mtp-control"),
  },
  {
    name: "replies-menu-own",
    snapshot: {
      open: {
        ...SOURDOUGH_CHAT,
        settings: {
          system_prompt: "Metric units. I bake with rye.",
          without_standing: false,
          without_project: false,
          generation: {
            ...GENERATION,
            sampling: { ...RECOMMENDED, temperature: 1.1, min_p: 0.05 },
            thinking: { mode: "tokens", tokens: 2048 },
          },
          preset: null,
          tools: [],
        },
      },
    },
    act: () => click("sampling-control"),
  },
  {
    name: "nearly-full",
    snapshot: {
      open: opened(SOURDOUGH, [
        question(31, null, STARTER_QUESTION),
        reply(32, 31, STARTER_REPLY, { stats: { ...STATS, prompt_tokens: 30_823 } }),
      ]),
    },
  },
  {
    name: "full",
    snapshot: { open: FULL_CHAT },
  },
  {
    name: "summarising",
    snapshot: {
      open: FULL_CHAT,
      summaries: [{ chat: SOURDOUGH.id, progress: { done: 1, of: 3 } }],
    },
  },
  {
    name: "summary",
    snapshot: {
      open: opened({ ...SOURDOUGH, origin: { chat: 2, message: 90 } }, [
        SUMMARY,
        question(31, 30, STARTER_QUESTION),
        reply(32, 31, STARTER_REPLY, { stats: { ...STATS, thinking: { ...STATS.thinking, cut: true } } }),
      ]),
    },
  },
  {
    name: "summary-edited",
    snapshot: {
      open: opened({ ...SOURDOUGH, origin: { chat: 2, message: 90 } }, [
        SUMMARY,
        question(31, 30, STARTER_QUESTION),
        reply(32, 31, STARTER_REPLY),
      ]),
    },
    act: () => click("edit-summary"),
  },
  {
    name: "prompts",
    snapshot: { open: { ...SOURDOUGH_CHAT, draft: { text: "/", files: [], pictures: [] } } },
  },
  { name: "replies-menu", snapshot: { open: SOURDOUGH_CHAT }, act: () => click("sampling-control") },
  { name: "model-picker", snapshot: { open: SOURDOUGH_CHAT }, act: () => click("model-picker") },
  { name: "message-menu", snapshot: { open: SOURDOUGH_CHAT }, act: () => click("message-more") },
  {
    name: "editing",
    snapshot: {
      open: {
        ...SOURDOUGH_CHAT,
        messages: SOURDOUGH_CHAT.messages.map((one, place) =>
          place === 0 ? { ...one, versions: [31, 33] } : one,
        ),
      },
    },
    act: () => click("edit"),
  },
  {
    name: "side-by-side",
    snapshot: {
      open: opened(SOURDOUGH, [
        question(31, null, STARTER_QUESTION),
        { ...reply(32, 31, STARTER_REPLY), versions: [30, 32, 34] },
      ]),
    },
    answers: {
      attach: (id) =>
        reply(id, 31, STARTER_REPLY.slice(0, 640), {
          model: "Qwen3.5 4B",
          stats: { ...STATS, tokens_per_second: 96, plain: null },
        }).message,
    },
    act: () => compareVersions(32),
  },
  {
    name: "ask-two",
    snapshot: { open: { ...SOURDOUGH_CHAT, draft: { text: "And with rye?", files: [], pictures: [] } } },
    act: () => click("ask-two"),
  },
  {
    name: "reading-aloud",
    snapshot: { open: SOURDOUGH_CHAT },
    act: () => {
      const sentences = sentencesOf(STARTER_REPLY);
      setView({ hasVoice: true, reading: { message: 32, sentences, at: 1, paused: false } });
    },
  },
  {
    name: "chat-window",
    alone: true,
    answers: {
      openChat: () => ({ ...SOURDOUGH_CHAT, draft: { text: "And with rye?", files: [], pictures: [] } }),
    },
  },
  streaming("waiting-messages", async (stream) => {
    await stream.write(STARTER_REPLY.slice(0, 640), 300);
    await stream.tell({ type: "live", stats: LIVE });
    const texts = [
      "Does rye change that?",
      "Write it down as a recipe for one loaf, with the times for a cold kitchen.",
    ];
    const queued = texts.map((text, id) => ({ id, text, files: [], pictures: [] }));
    setView({ queued: { [SOURDOUGH.id]: queued } });
  }),
  {
    name: "temporary",
    snapshot: {
      open: opened({ ...SOURDOUGH, id: FIRST_TEMPORARY, title: "Temporary chat" }, SOURDOUGH_CHAT.messages),
    },
  },
  {
    name: "temporary-empty",
    snapshot: { open: opened({ ...SOURDOUGH, id: FIRST_TEMPORARY, title: "Temporary chat" }, []) },
  },
  {
    name: "panel-chat-standing",
    snapshot: {
      open: SOURDOUGH_CHAT,
      preferences: {
        ...DEFAULT_PREFERENCES,
        open_projects: [],
        standing_instructions: "Metric units. Short answers.",
      },
    },
    act: () => setView({ inspector: true, inspectorPage: "chat" }),
  },
  {
    name: "editing-reply",
    snapshot: { open: SOURDOUGH_CHAT },
    act: () => setView({ editing: 32 }),
  },
  {
    name: "edited-reply",
    snapshot: {
      open: opened(SOURDOUGH, [
        question(31, null, STARTER_QUESTION),
        {
          ...reply(32, 31, STARTER_REPLY.slice(0, 640), { stats: null, edited: true }),
          versions: [30, 32],
        },
      ]),
    },
  },
  {
    name: "files",
    snapshot: {
      open: {
        ...BORROW_CHAT,
        draft: {
          text: "And what do these notes say of it?",
          files: [
            {
              name: "notes on lifetimes.md",
              text: "A reference may not outlive what it refers to. ".repeat(180),
            },
            {
              name: "a file with a name that is far too long to be shown in one piece anywhere.txt",
              text: "Short.",
            },
            { name: "sightings.xlsx", text: SIGHTINGS },
            { name: "handbook of owls.pdf", text: "An owl hears a mouse under the snow. ".repeat(60_000) },
          ],
          pictures: [],
        },
      },
    },
  },
  { name: "sources", snapshot: { open: SOURCES } },
  { name: "source", snapshot: { open: SOURCES }, act: () => click("source") },
  {
    name: "wide-content",
    snapshot: { open: opened(SOURDOUGH, [question(31, null, LINE), reply(32, 31, WIDE)]) },
  },
  {
    name: "right-to-left",
    snapshot: {
      open: opened(SOURDOUGH, [question(31, null, "لماذا لا يرتفع العجين؟"), reply(32, 31, RIGHT_TO_LEFT)]),
    },
  },
  {
    name: "dropping",
    snapshot: { open: SOURDOUGH_CHAT },
    act: (shell) => shell.tell({ type: "dragging", inside: true }),
  },
  {
    name: "deleted",
    snapshot: { open: SOURDOUGH_CHAT },
    act: () =>
      setView({
        note: { text: t("chats-named-deleted", { title: "Names for a grey cat" }), undo: async () => {} },
      }),
  },
  { name: "chat-menu", snapshot: { open: SOURDOUGH_CHAT }, act: () => click("chat-more", "Lisbon") },
  { name: "tags", snapshot: { open: SOURDOUGH_CHAT }, act: () => setView({ tagging: 3 }) },
  { name: "palette", snapshot: { open: SOURDOUGH_CHAT }, act: () => setView({ palette: true }) },
  {
    name: "find-in-chat",
    snapshot: { open: SOURDOUGH_CHAT },
    act: async () => {
      findHere();
      await type("find-field", "starter");
    },
  },
  { name: "shortcuts", snapshot: { open: SOURDOUGH_CHAT }, act: () => setView({ shortcuts: true }) },
  {
    name: "search",
    snapshot: { open: SOURDOUGH_CHAT },
    answers: {
      searchChats: () => ({
        chats: [
          {
            chat: 3,
            title: [{ text: "Sourdough at 16 °C", matched: false }],
            titled: false,
            updated_at: SOURDOUGH.updated_at,
            places: 3,
            messages: [
              {
                message: 31,
                snippet: [
                  { text: "My kitchen is 16 °C and the ", matched: false },
                  { text: "starter", matched: true },
                  { text: " hardly rises.", matched: false },
                ],
              },
              {
                message: 32,
                snippet: [
                  { text: "A ", matched: false },
                  { text: "starter", matched: true },
                  { text: " slows down in the cold, but it does not stop.", matched: false },
                ],
              },
            ],
          },
          {
            chat: 6,
            title: [{ text: "Translate a recipe card", matched: false }],
            titled: false,
            updated_at: RECIPE.updated_at,
            places: 1,
            messages: [
              {
                message: 61,
                snippet: [
                  { text: "… 50 g of ", matched: false },
                  { text: "starter", matched: true },
                  { text: " (Anstellgut)", matched: false },
                ],
              },
            ],
          },
        ],
        places: 4,
        counts: { all: 4, pinned: 0, week: 4, tags: [{ name: "kitchen", places: 4 }] },
        capped: false,
        searched: null,
      }),
      showMessage: () => SOURDOUGH_CHAT,
    },
    act: async () => {
      await type("chat-search", "starter");
      await click("hit", "slows down");
    },
  },
  {
    name: "search-nothing",
    answers: {
      searchChats: () => ({
        chats: [],
        places: 0,
        counts: { all: 0, pinned: 0, week: 0, tags: [] },
        capped: false,
        searched: { messages: 1284, files: 36 },
      }),
    },
    act: () => type("chat-search", "permafrost"),
  },
  { name: "opening", answers: { library: silence }, snapshot: { engine: { state: "starting" } } },
];
