import type { CallDifference, ReplyCall, ReplyStep } from "../../src/bridge/bindings";
import { replyCall, replyStep } from "../../src/chat/samples";
import { ago, MINUTE } from "../clock";
import { opened, question, reply, SOURDOUGH, STATS } from "./chats";

const MESSAGE = 42;

/** A call of the reply that uses tools. */
export const call = (step: number, ordinal: number, more: Partial<ReplyCall>): ReplyCall =>
  replyCall(
    { message: MESSAGE, step, ordinal },
    { started_at: ago(MINUTE), ended_at: ago(MINUTE) + 12, ...more },
  );

const written = (value: object) => JSON.stringify(value);

const NIGHTS = "18 °C · 22 °C · 16 °C · 15 °C · 17 °C";

const READ = call(0, 0, {
  server: "notes",
  tool: "read_text_file",
  arguments_written: written({ path: "Notes/sourdough.md" }),
  arguments_sent: written({ path: "Notes/sourdough.md" }),
  decision: "allowed_in_chat",
  ended_at: ago(MINUTE) + 84,
  result_for_model: `# Nights\n\n${NIGHTS}`,
  result: written({ parts: [{ kind: "text", text: `# Nights\n\n${NIGHTS}` }], failed: false }),
});

const SUM = call(1, 0, {
  tool: "calculator",
  arguments_written: written({ expression: "(18 + 22 + 16 + 15 + 17) / 5" }),
  arguments_sent: written({ expression: "(18 + 22 + 16 + 15 + 17) / 5" }),
  decision: "built_in",
  result_for_model: "17.6",
  result: written({ parts: [{ kind: "text", text: "17.6" }], failed: false }),
});

const QUESTION = "How warm was the kitchen on average, by my notes? Keep the answer in them.";

const FIRST = "I look into your notes first.";
const ANSWER =
  "Your five nights were **17.6 °C** on average. At that temperature a stiff starter needs about eleven hours, so the ten that you gave it were a little short.";

const thinking = { emitted: 40, steps: 18, drafted: 30, accepted: 22, seconds: 1.1, cut: false };

export const ROUNDS: ReplyStep[] = [
  replyStep(0, {
    thinking: "The notes should say. I read them, then take the mean.",
    text: FIRST,
    calls: [READ],
    stats: { ...STATS, emitted: 61, steps: 27, thinking },
  }),
  replyStep(1, {
    calls: [SUM],
    stats: {
      ...STATS,
      emitted: 34,
      steps: 11,
      positions: [
        { drafted: 11, accepted: 11 },
        { drafted: 9, accepted: 8 },
      ],
    },
  }),
  replyStep(2, { text: ANSWER, stats: { ...STATS, emitted: 58, steps: 26 } }),
];

const replyOf = (steps: ReplyStep[], more: Parameters<typeof reply>[3]) => {
  const texts = steps.map(({ text }) => text).filter(Boolean);
  return reply(MESSAGE, 41, texts.join("\n\n"), { steps, ...more });
};

const chat = (steps: ReplyStep[], more: Parameters<typeof reply>[3]) =>
  opened(SOURDOUGH, [question(41, null, QUESTION), replyOf(steps, more)], {
    settings: {
      system_prompt: "",
      without_standing: false,
      without_project: false,
      generation: null,
      preset: null,
      tools: ["calculator", "notes"],
    },
  });

/** A reply that has read a file and added up, and has answered. */
export const DONE_CHAT = chat(ROUNDS, {});

/** What the shell knows of its calls. */
export const detailsOf = ({ step, ordinal }: ReplyCall["id"]): ReplyCall =>
  [...ROUNDS, ...FAILED_ROUNDS]
    .flatMap(({ calls }) => calls)
    .find(({ id }) => id.step === step && id.ordinal === ordinal) ?? READ;

/** The same, before it may write into a file. */
export const ASKING_CHAT = chat(
  [
    ...ROUNDS.slice(0, 2),
    replyStep(2, {
      text: "The mean is 17.6 °C. I add a line to your notes.",
      calls: [
        call(2, 0, {
          server: "notes",
          tool: "write_file",
          arguments_written: written({
            path: "Notes/sourdough.md",
            text: "## Kitchen\n\n- Mean of five nights: 17.6 °C\n- The stiff starter needs about eleven hours\u200b\n",
            make_copy: true,
          }),
          state: { state: "asking" },
          asked_at: ago(0),
          started_at: null,
          ended_at: null,
        }),
      ],
    }),
  ],
  { status: { state: "asking" }, stats: null },
);

/** The app's own tool, before it may change a line of a file and add two. */
export const WRITING_CHAT = chat(
  [
    ...ROUNDS.slice(0, 2),
    replyStep(2, {
      text: "The mean is 17.6 °C. I keep it in your notes.",
      calls: [
        call(2, 0, {
          tool: "edit_file",
          arguments_written: written({
            path: "Notes/sourdough.md",
            old: "- Mean: not known yet",
            new: "- Mean of five nights: 17.6 °C\n- At this temperature the stiff starter needs about eleven hours, so it goes into the warm kitchen by nine in the evening\n- Look again in a week",
          }),
          state: { state: "asking" },
          asked_at: ago(0),
          started_at: null,
          ended_at: null,
        }),
      ],
    }),
  ],
  { status: { state: "asking" }, stats: null },
);

/** What that would change. */
export const CHANGE: CallDifference = {
  path: "Notes/sourdough.md",
  creates: false,
  added: 3,
  removed: 1,
  text: `--- Notes/sourdough.md
+++ Notes/sourdough.md
@@ -2,5 +2,7 @@
 
 ${NIGHTS}
 
-- Mean: not known yet
+- Mean of five nights: 17.6 °C
+- At this temperature the stiff starter needs about eleven hours, so it goes into the warm kitchen by nine in the evening
+- Look again in a week
 - The flour is from the mill at the river
`,
  seen: "9f2c",
};

/** Calls that ended in each other way. */
const FAILED_ROUNDS: ReplyStep[] = [
  replyStep(0, {
    text: "I look for the notes, and for what others say.",
    calls: [
      {
        ...READ,
        arguments_written: written({ path: "Notes/starter.md" }),
        arguments_sent: null,
        state: { state: "failed" },
        ended_at: ago(MINUTE) + 31,
      },
      call(0, 1, {
        server: "issues",
        tool: "list_issues",
        arguments_written: written({ query: "sourdough at 16 °C" }),
        state: { state: "timed_out" },
        decision: "allowed_once",
        ended_at: ago(MINUTE) + 60_000,
      }),
      call(0, 2, {
        server: "notes",
        tool: "delete_file",
        arguments_written: written({ path: "Notes/old.md" }),
        state: { state: "denied" },
        started_at: null,
        ended_at: null,
      }),
      call(0, 3, {
        server: "notes",
        tool: "read_text_file",
        arguments_written: written({ file: "Notes/sourdough.md" }),
        state: { state: "refused", reason: 'read_text_file needs "path", a text; there is no "file".' },
        started_at: null,
        ended_at: null,
      }),
    ],
    stats: STATS,
  }),
  replyStep(1, {
    text: "I try to write it down.",
    calls: [
      call(1, 0, {
        server: "notes",
        tool: "write_file",
        arguments_written: written({ path: "Notes/sourdough.md", text: "17.6 °C" }),
        state: { state: "unknown" },
        ended_at: null,
      }),
    ],
    stats: STATS,
  }),
];

export const FAILED_CHAT = chat(FAILED_ROUNDS, { status: { state: "interrupted" }, stats: null });

/** The rounds of a reply that looks around for long. */
export const PAUSED_CHAT = chat(
  [
    ...Array.from({ length: 8 }, (_, step) =>
      replyStep(step, {
        calls: [{ ...READ, id: { message: MESSAGE, step, ordinal: 0 } }],
        stats: STATS,
      }),
    ),
  ],
  { status: { state: "paused" }, stats: null },
);

/** A call runs, whose server asks something meanwhile. */
const RUNNING_ROUNDS: ReplyStep[] = [
  ...ROUNDS.slice(0, 2),
  replyStep(2, {
    text: "The mean is 17.6 °C. I open an issue for it.",
    calls: [
      call(2, 0, {
        server: "issues",
        tool: "open_issue",
        arguments_written: written({ title: "Longer rest for the stiff starter" }),
        arguments_sent: written({ title: "Longer rest for the stiff starter" }),
        state: { state: "running" },
        decision: "allowed_once",
        started_at: ago(0),
        ended_at: null,
      }),
    ],
  }),
];
const RUNNING = { status: { state: "streaming" }, stats: null } as const;

export const RUNNING_CHAT = chat(RUNNING_ROUNDS, RUNNING);

/** Its reply, as the page hears of it. */
export const RUNNING_REPLY = replyOf(RUNNING_ROUNDS, RUNNING).message;
