import { describe, expect, it } from "vitest";
import type { Message, ReplyEvent } from "../bridge/bindings";
import { replyCall, replyStep } from "../chat/samples";
import { type Change, INITIAL_SERVER_STATE, NO_TOOLS, reduce, type ServerState } from "./server";
import { isResting, runsOfSteps, withStep, withText } from "./steps";

const message = (more: Partial<Message> = {}): Message => ({
  id: 2,
  parent: 1,
  role: "assistant",
  text: "",
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  status: { state: "streaming" },
  stats: null,
  error: null,
  model: null,
  created_at: 0,
  ...more,
});

const begun = (more: Partial<Message> = {}): ServerState =>
  reduce(
    { ...INITIAL_SERVER_STATE, chat: 7, messages: [message(more)] },
    { kind: "attached", chat: 7, message: message(more) },
  );

const heard = (state: ServerState, ...events: [ReplyEvent, number?][]): ServerState =>
  events.reduce(
    (before, [event, at = 0]) => reduce(before, { kind: "reply", message: 2, event, at } satisfies Change),
    state,
  );

const text = (thinking: string, answer: string): ReplyEvent => ({
  type: "text",
  thinking,
  answer,
  provenance: { thinking: [], answer: [] },
});
const step = (ordinal: number, more: Parameters<typeof replyStep>[1] = {}): ReplyEvent => ({
  type: "step",
  step: replyStep(ordinal, { status: { state: "streaming" }, ...more }),
});

describe("rounds", () => {
  it("are added behind those before them, and put in the place of the one of their number", () => {
    const [first, second] = [replyStep(0), replyStep(1)];
    expect(withStep([first], second)).toEqual([first, second]);
    const ended = replyStep(0, { text: "Hm." });
    expect(withStep([first, second], ended)).toEqual([ended, second]);
  });

  it("take what is written at the end of the last one", () => {
    const steps = withText([replyStep(0, { text: "One." }), replyStep(1)], { thinking: "Hm", answer: "" });
    expect(withText(steps, { thinking: "", answer: "\n\nTwo" })).toEqual([
      replyStep(0, { text: "One." }),
      replyStep(1, { thinking: "Hm", text: "Two" }),
    ]);
  });

  it("lose only the blank line that parts their texts in the message", () => {
    const written = (before: string, last: string, answer: string) =>
      withText([replyStep(0, { text: before }), replyStep(1, { text: last })], { thinking: "", answer }).at(
        -1,
      )?.text;
    expect(written("One.", "", "\n\nTwo")).toBe("Two");
    expect(written("", "", "\n\nTwo"), "nothing was written before").toBe("\n\nTwo");
    expect(written("One.", "Two.", "\n\nThree"), "it is a paragraph of its own").toBe("Two.\n\nThree");
    expect(written("One.", "", "\n\n\n\nTwo")).toBe("\n\nTwo");
  });

  it("part thinking by what was thought before, and not by what was written", () => {
    const thought = (before: string) =>
      withText([replyStep(0, { text: "One.", thinking: before }), replyStep(1)], {
        thinking: "\n\nHm",
        answer: "",
      }).at(-1)?.thinking;
    expect([thought("Well."), thought("")]).toEqual(["Hm", "\n\nHm"]);
  });

  it("have their part of where the text of the message came from", () => {
    const steps = [replyStep(0, { text: "One." }), replyStep(1), replyStep(2, { text: "𝕏wo" })];
    expect(
      runsOfSteps(steps, "text", [
        [3, 0],
        [4, 1],
        [2, 2],
      ]),
    ).toEqual([
      [
        [3, 0],
        [1, 1],
      ],
      [],
      [
        [1, 1],
        [2, 2],
      ],
    ]);
  });
});

describe("a reply in rounds", () => {
  it("grows as a whole and by its round", () => {
    const { live } = heard(
      begun(),
      [step(0)],
      [text("", "One.")],
      [step(0, { text: "One.", calls: [replyCall({ message: 2, step: 0, ordinal: 0 })] })],
      [step(1)],
      [text("", "\n\nTwo.")],
    );
    expect(live[2]).toMatchObject({ answer: "One.\n\nTwo.", steps: [{ text: "One." }, { text: "Two." }] });
  });

  it("has no rounds where none was told of", () => {
    expect(heard(begun(), [text("", "One.")]).live[2]).toMatchObject({ answer: "One.", steps: [] });
  });

  it("shows the call that is being written until it is one of the round", () => {
    const calling = (tool: string, written: string): ReplyEvent => ({ type: "calling", tool, written });
    const writing = heard(begun(), [step(0)], [calling("add", '{"a"')], [calling("add", ": 1}")]);
    expect(writing.live[2]?.calling).toEqual({ tool: "add", written: '{"a": 1}' });
    expect(heard(writing, [calling("take", "{")]).live[2]?.calling).toEqual({ tool: "take", written: "{" });
    expect(heard(writing, [step(0)]).live[2]?.calling).toBeNull();
  });

  it("thinks for each round anew", () => {
    const first = heard(begun(), [step(0)], [text("Hm", ""), 1000], [text("", "One."), 3000]);
    expect(first.live[2]).toMatchObject({ thinkingSince: 1000, thoughtSeconds: 2 });
    expect(heard(first, [step(0), 3500]).live[2]).toMatchObject({ thinkingSince: 1000, thoughtSeconds: 2 });
    const second = heard(first, [step(1), 4000]);
    expect(second.live[2]).toMatchObject({ thinkingSince: null, thoughtSeconds: null });
    const called = heard(
      second,
      [text("\n\nSo", ""), 5000],
      [{ type: "calling", tool: "add", written: "" }, 9000],
    );
    expect(called.live[2]).toMatchObject({ thinkingSince: 5000, thoughtSeconds: 4 });
  });

  it("says no numbers of its last round while its calls run", () => {
    const stats = { tokens_per_second: 1, tokens_per_pass: 1, acceptance: null, passes: [] };
    const writing = heard(begun(), [step(0)], [{ type: "live", stats }]);
    expect(writing.live[2]?.stats).toBe(stats);
    expect(heard(writing, [step(0)]).live[2]?.stats).toBeNull();
  });

  it("rests and is written again", () => {
    const asking = message({ status: { state: "asking" }, steps: [replyStep(0)] });
    const rests = heard(begun(), [step(0)], [{ type: "ended", message: asking }]);
    expect([rests.live, rests.messages]).toEqual([{}, [asking]]);
    expect(isResting(asking)).toBe(true);
    const again = message({ steps: [replyStep(0)], text: "One." });
    const goesOn = reduce(rests, { kind: "attached", chat: 7, message: again });
    expect(goesOn.messages).toEqual([again]);
    expect(goesOn.live[2]).toMatchObject({ answer: "One.", steps: [{ ordinal: 0 }] });
  });
});

it("the tools are those that the shell told of last", () => {
  const tools = { ...NO_TOOLS, permissions: [] };
  expect(reduce(INITIAL_SERVER_STATE, { kind: "app", event: { type: "tools", tools } }).tools).toBe(tools);
});
