import { hiddenIn, visible, withHidden } from "./visible";

/** An argument of a call, as a person reads it. */
export interface Argument {
  key: string;
  value: string;
}

/** The object that a text is in JSON; null where it is something else. */
export function objectOf(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** The arguments of a call in their order, in full; null where they are no object in JSON. */
export function argumentsOf(json: string): Argument[] | null {
  const object = objectOf(json.trim() === "" ? "{}" : json);
  return object && Object.entries(object).map(([key, value]) => ({ key, value: written(value) }));
}

/** A text as it is; all else as JSON. */
const written = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** How many characters of arguments nobody would see. */
export const hiddenInArguments = (json: string): number => {
  const all = argumentsOf(json);
  return all === null
    ? hiddenIn(json)
    : all.reduce((sum, { key, value }) => sum + hiddenIn(key) + hiddenIn(value), 0);
};

/** So much of what a call is about goes on its line. */
const LONGEST = 120;

/** What a call is about, in a line: what is known to be its `subject`, or else its first argument that is a word. */
export function aboutCall(json: string, subject: string | null = null): string | null {
  const object = objectOf(json);
  const first = (argumentsOf(json) ?? []).find(({ key }) =>
    ["string", "number"].includes(typeof object?.[key]),
  );
  const line = visible(subject ?? first?.value ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line || null;
}

/** Arguments as one changes them: JSON in which characters that nobody would see are escaped. */
export function editable(json: string): string {
  const object = objectOf(json);
  return object === null ? json : withHidden(JSON.stringify(object, null, 2), escaped);
}

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
