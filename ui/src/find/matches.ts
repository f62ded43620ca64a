import type { Message } from "../bridge/bindings";
import { splitFiles } from "../chat/attachments";
import { hiddenUnits } from "../reveal/hidden";
import { matchesIn, mayHold, parseQuery, type Query } from "./query";
import type { Find, Match } from "./view";

/** How many matches a message has, by what was looked for last. */
const counted = new WeakMap<Message, { query: string; matches: number }>();
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
  const matches = messages.flatMap((message) =>
    Array.from({ length: countIn(message, query, parsed) }, (_, nth) => ({ message: message.id, nth })),
  );
  found.set(messages, { query, matches });
  return matches;
}

function countIn(message: Message, query: string, parsed: Query): number {
  // The store finds a reply when it has ended.
  if (message.status.state === "streaming" || message.role === "system") return 0;
  const known = counted.get(message);
  if (known?.query === query) return known.matches;
  const matches = mayHold(message.text, parsed) ? shownMatches(message, parsed) : 0;
  counted.set(message, { query, matches });
  return matches;
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

/** The match so many further on from where one is, round the ends; null where there is none. */
export function matchFrom({ current }: Find, matches: Match[], steps: number): Match | null {
  const at = matches.findIndex(({ message, nth }) => message === current.message && nth === current.nth);
  // Where one was may be gone: the first and the last are beside it.
  const from = at < 0 && steps < 0 ? 0 : at;
  return matches[(from + steps + matches.length) % matches.length] ?? null;
}
