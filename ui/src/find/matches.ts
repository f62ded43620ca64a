import type { Message } from "../bridge/bindings";
import { splitFiles } from "../chat/attachments";
import { isSummary } from "../chat/view";
import { hiddenUnits } from "../reveal/hidden";
import { matchesIn, mayHold, parseQuery, type Query } from "./query";
import type { Find, Match } from "./view";

/** How many matches a message and its thinking have, by what was looked for last. */
const counted = new WeakMap<Message, { query: string; thought: number; text: number }>();
/** All matches of the messages of a chat, by what was looked for last. */
const found = new WeakMap<Message[], { query: string; matches: Match[] }>();

/**
 * All places in the messages of a chat that hold all words of `query`, in order. A message that was found by what its
 * text does not show, as a file, is one match.
 */
export function matchesOf(messages: Message[], query: string): Match[] {
  const known = found.get(messages);
  if (known?.query === query) return known.matches;
  const parsed = parseQuery(query);
  const matches = messages.flatMap((message) => {
    const { thought, text } = countIn(message, query, parsed);
    const places = (length: number, thought: boolean) =>
      Array.from({ length }, (_, nth) => ({ message: message.id, thought, nth }));
    return [...places(thought, true), ...places(text, false)];
  });
  found.set(messages, { query, matches });
  return matches;
}

function countIn(message: Message, query: string, parsed: Query): { thought: number; text: number } {
  // The store finds a reply when it has ended.
  const isHidden = message.role === "system" && !isSummary(message);
  if (message.status.state === "streaming" || isHidden) return { thought: 0, text: 0 };
  const known = counted.get(message);
  if (known?.query === query) return known;
  const { text, thinking } = message;
  const found = {
    query,
    thought: mayHold(thinking, parsed) ? shownMatches({ ...message, text: thinking }, parsed) : 0,
    text: mayHold(text, parsed) ? shownMatches(message, parsed) : 0,
  };
  counted.set(message, found);
  return found;
}

function shownMatches(message: Message, query: Query): number {
  const { parts, complete } = matchesIn(message.text, query);
  return complete ? Math.max(1, parts.filter(isShown(message)).length) : 0;
}

/** Whether a part of a message is in the text that is shown of it. */
function isShown({ role, text }: Message): (part: { from: number; to: number }) => boolean {
  if (role === "user") {
    const { length } = splitFiles(text).text;
    return ({ to }) => to <= length;
  }
  let hidden: Uint8Array | null = null;
  return ({ from }) => {
    hidden ??= hiddenUnits(text);
    return hidden[from] === 0;
  };
}

/** Whether two are one match. */
export const isSame = (a: Match, b: Match): boolean =>
  a.message === b.message && a.thought === b.thought && a.nth === b.nth;

/** The match so many further on from where one is, round the ends; null where there is none. */
export function matchFrom({ current }: Find, matches: Match[], steps: number): Match | null {
  const at = matches.findIndex((match) => isSame(match, current));
  // Where one was may be gone: the first and the last are beside it.
  const from = at < 0 && steps < 0 ? 0 : at;
  return matches[(from + steps + matches.length) % matches.length] ?? null;
}
