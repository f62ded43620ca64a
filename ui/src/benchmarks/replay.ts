import type { Comparison, TimedToken } from "../bridge/bindings";

/** How long the slower of both replies took, in milliseconds from its first token. */
export const duration = ({ plain, drafted }: Comparison): number =>
  Math.max(plain.tokens.at(-1)?.at ?? 0, drafted.tokens.at(-1)?.at ?? 0);

/** How many tokens have come at a time. Their times rise. */
export function arrived(tokens: TimedToken[], at: number): number {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.at ?? Number.POSITIVE_INFINITY) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the first tokens say. */
export function said(tokens: TimedToken[], number: number): { thinking: string; answer: string } {
  const text = { thinking: "", answer: "" };
  for (const token of tokens.slice(0, number)) text[token.part] += token.text;
  return text;
}
