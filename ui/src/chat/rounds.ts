import type { ReplyCall, ReplyStep } from "../bridge/bindings";

/** So many calls in a row are folded. */
const MANY = 3;

/** What a reply is drawn of, from above to below. */
export type Part =
  | { kind: "thinking" | "text"; key: string; at: number; step: ReplyStep }
  | { kind: "call"; key: string; call: ReplyCall }
  | { kind: "group"; key: string; calls: ReplyCall[] };

/** The same of a reply without rounds. Its answer has its place before there is any. */
export function plainParts(step: ReplyStep): Part[] {
  const thinking: Part = { kind: "thinking", key: "thinking 0", at: 0, step };
  const text: Part = { kind: "text", key: "text 0", at: 0, step };
  return step.thinking.trim() === "" ? [text] : [thinking, text];
}

/**
 * The parts of a reply, in order. Calls that are done and follow one another are folded from three on, unless they are
 * the last of a reply that is being written: what one looks at stays as it is.
 */
export function partsOf(steps: ReplyStep[], writing: boolean): Part[] {
  const parts: Part[] = [];
  let row: ReplyCall[] = [];
  const endRow = (folds: boolean) => {
    const key = row[0] ? `${row[0].id.step}.${row[0].id.ordinal}` : "";
    if (folds && row.length >= MANY) parts.push({ kind: "group", key: `group ${key}`, calls: row });
    else parts.push(...row.map(callPart));
    row = [];
  };
  steps.forEach((step, at) => {
    for (const kind of ["thinking", "text"] as const) {
      const isThere = kind === "thinking" ? step.thinking.trim() !== "" : step.text !== "";
      if (!isThere) continue;
      endRow(true);
      parts.push({ kind, key: `${kind} ${step.ordinal}`, at, step });
    }
    for (const call of step.calls) {
      if (call.state.state === "done") row.push(call);
      else {
        endRow(true);
        parts.push(callPart(call));
      }
    }
  });
  endRow(!writing);
  return parts;
}

const callPart = (call: ReplyCall): Part => ({
  kind: "call",
  key: `call ${call.id.step}.${call.id.ordinal}`,
  call,
});
