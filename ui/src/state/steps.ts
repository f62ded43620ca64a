import type { DraftRun, Message, ReplyCall, ReplyStep } from "../bridge/bindings";
import { characters, sliceRuns } from "../reveal/runs";

/** What stands between the texts of two rounds in their message. */
const BETWEEN = "\n\n";

/** The rounds with `step` in the place of the one of its number, or behind them. */
export function withStep(steps: ReplyStep[], step: ReplyStep): ReplyStep[] {
  const at = steps.findIndex(({ ordinal }) => ordinal === step.ordinal);
  return at < 0 ? [...steps, step] : steps.with(at, step);
}

/** The rounds with what was written at the end of the last one. A reply that has none keeps its text elsewhere. */
export function withText(
  steps: ReplyStep[],
  { thinking, answer }: { thinking: string; answer: string },
): ReplyStep[] {
  const last = steps.at(-1);
  if (!last || (thinking === "" && answer === "")) return steps;
  const before = steps.slice(0, -1);
  const grown = (of: "thinking" | "text", more: string) => {
    const begins = last[of] === "" && before.some((step) => step[of] !== "");
    return last[of] + (begins && more.startsWith(BETWEEN) ? more.slice(BETWEEN.length) : more);
  };
  return [...before, { ...last, thinking: grown("thinking", thinking), text: grown("text", answer) }];
}

/** Whether a reply rests until the person has said something. */
export const isResting = ({ status }: Pick<Message, "status">): boolean =>
  status.state === "asking" || status.state === "paused";

/** All calls of a reply, in their order. */
export const callsOf = (steps: ReplyStep[]): ReplyCall[] => steps.flatMap(({ calls }) => calls);

/** For each round, where the text of its message came from, as far as that is of the round. */
export function runsOfSteps(steps: ReplyStep[], of: "thinking" | "text", runs: DraftRun[]): DraftRun[][] {
  let at = 0;
  return steps.map((step) => {
    const length = characters(step[of]);
    if (length === 0) return [];
    if (at > 0) at += BETWEEN.length;
    const own = sliceRuns(runs, at, length);
    at += length;
    return own;
  });
}
