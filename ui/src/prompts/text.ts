import type { Prompt } from "../bridge/bindings";
import { t } from "../language/text";

/** What stands for something to be filled in: `{{name}}`. */
const VARIABLE = /\{\{[ \t]*([^{}\n]{1,60}?)[ \t]*\}\}/g;

/** The name of what is filled in with the text on the clipboard. */
export const CLIPBOARD = "clipboard";

/** A place in a text that is to be filled in. */
export interface Place {
  from: number;
  to: number;
}

/** The names of what is to be filled in, each once. */
export const variablesOf = (text: string): string[] => [
  ...new Set([...text.matchAll(VARIABLE)].map(([, name]) => name as string)),
];

/** A text with `value` in all places of one name. */
export const filledIn = (text: string, name: string, value: string): string =>
  text.replace(VARIABLE, (place, found) => (found === name ? value : place));

/** The next place of one of `names` from `from` on, round the end; null where there is none any more. */
export function nextPlace(text: string, names: readonly string[], from: number): Place | null {
  const places = [...text.matchAll(VARIABLE)]
    .filter(([, name]) => names.includes(name as string))
    .map(({ 0: all, index }) => ({ from: index, to: index + all.length }));
  return places.find((place) => place.from >= from) ?? places[0] ?? null;
}

/** What is looked for among the prompts while a message begins with a slash; null while nothing is. */
export function askedFor(text: string): string | null {
  return text.startsWith("/") && text.length <= 60 && !/[\n/]/.test(text.slice(1)) ? text.slice(1) : null;
}

/** The first line of what a prompt says, or what it is for. */
export const summaryOf = ({ description, text }: Prompt): string =>
  description.trim() || (text.trim().split("\n", 1)[0] ?? "");

/** What a new library can begin with. */
export const examples = (): Prompt[] => [
  {
    name: t("prompts-example-summarise"),
    description: t("prompts-example-summarise.description"),
    text: t("prompts-example-summarise.text"),
  },
  {
    name: t("prompts-example-rewrite"),
    description: t("prompts-example-rewrite.description"),
    text: t("prompts-example-rewrite.text"),
  },
  {
    name: t("prompts-example-translate"),
    description: t("prompts-example-translate.description"),
    text: t("prompts-example-translate.text"),
  },
  {
    name: t("prompts-example-explain"),
    description: t("prompts-example-explain.description"),
    text: t("prompts-example-explain.text"),
  },
];
