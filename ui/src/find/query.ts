import { type Term, termsOf } from "./terms";

/** Words that stand one after the other. */
interface Phrase {
  terms: string[];
  /** Whether the last word also matches longer words that begin with it, as it does unless it was quoted. */
  open: boolean;
}

/** What is looked for: phrases that must all be there. */
export type Query = Phrase[];

/** A part of a text, in units. */
export interface Part {
  from: number;
  to: number;
}

/** More phrases than this are left out, and more words of one. */
const MOST_PHRASES = 16;
const MOST_TERMS = 64;

/** A character that may fold to another one than its small letter. */
const NOT_PLAIN = /[^\0-\x7f]/;

/** Reads what was typed, as the store does: words between quotes stand together as they are. */
export function parseQuery(text: string): Query {
  const phrases = text.split(/["“”„]/).flatMap((piece, number) => {
    const quoted = number % 2 === 1;
    const words = quoted ? [piece] : piece.split(/\p{White_Space}+/u);
    return words.map((word) => ({
      terms: termsOf(word)
        .slice(0, MOST_TERMS)
        .map(({ folded }) => folded),
      open: !quoted,
    }));
  });
  return phrases.filter(({ terms }) => terms.length > 0).slice(0, MOST_PHRASES);
}

/** How many of the terms up to `last` a phrase matches; 0 where it does not. */
function matchedTerms({ terms, open }: Phrase, there: Term[], last: number): number {
  const first = last + 1 - terms.length;
  if (first < 0) return 0;
  const fits = terms.every((term, index) => {
    const folded = there[first + index]?.folded ?? "";
    return open && index === terms.length - 1 ? folded.startsWith(term) : folded === term;
  });
  return fits ? terms.length : 0;
}

/** Whether a text can hold all that is looked for; a text of plain characters is seen through at once. */
export function mayHold(text: string, query: Query): boolean {
  if (NOT_PLAIN.test(text)) return true;
  const lower = text.toLowerCase();
  return query.every(({ terms }) => terms.every((term) => lower.includes(term)));
}

/** What of a text matches, and whether it holds all that is looked for. */
export function matchesIn(text: string, query: Query): { parts: Part[]; complete: boolean } {
  const terms = termsOf(text);
  const parts: Part[] = [];
  const seen = new Set<Phrase>();
  terms.forEach(({ to }, last) => {
    let longest = 0;
    for (const phrase of query) {
      const length = matchedTerms(phrase, terms, last);
      if (length > 0) seen.add(phrase);
      longest = Math.max(longest, length);
    }
    if (longest === 0) return;
    const from = terms[last + 1 - longest]?.from ?? 0;
    // A longer match may end where a shorter one began.
    while ((parts.at(-1)?.from ?? -1) >= from) parts.pop();
    const before = parts.at(-1);
    if (before && before.to > from) before.to = Math.max(before.to, to);
    else parts.push({ from, to });
  });
  return { parts, complete: query.length > 0 && seen.size === query.length };
}
