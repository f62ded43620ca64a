import type { Prompt } from "../bridge/bindings";
import { ranked } from "../palette/ranked";

/** What stands for something to be filled in: `{{name}}`. */
const VARIABLE = /\{\{[ \t]*([^{}\n]{1,60}?)[ \t]*\}\}/g;

/** A place in a text that is to be filled in. */
export interface Place {
  from: number;
  to: number;
}

/** The names of what is to be filled in, each once. */
export const variablesOf = (text: string): string[] => [
  ...new Set([...text.matchAll(VARIABLE)].map(([, name]) => name as string)),
];

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

/** The prompts that fit what was typed behind the slash, those that begin with it first. */
export const matching = (prompts: readonly Prompt[], asked: string): Prompt[] => ranked([...prompts], asked);

/** The first line of what a prompt says, or what it is for. */
export const summaryOf = ({ description, text }: Prompt): string =>
  description.trim() || (text.trim().split("\n", 1)[0] ?? "");

/** What a new library can begin with. */
export const EXAMPLES: readonly Prompt[] = [
  {
    name: "Summarise",
    description: "The main points of a text",
    text: "Summarise the text below in {{number}} points, one sentence each. Leave out what is not in it.\n\n{{text}}",
  },
  {
    name: "Rewrite",
    description: "The same in other words",
    text: "Rewrite the text below so that it is {{clear and friendly}}. Keep its meaning and its facts.\n\n{{text}}",
  },
  {
    name: "Translate",
    description: "Into another language",
    text: "Translate the text below into {{language}}. Give the translation alone.\n\n{{text}}",
  },
  {
    name: "Explain code",
    description: "What it does and what could go wrong",
    text: "Explain step by step what this code does, and name what could go wrong with it.\n\n```\n{{code}}\n```",
  },
];
