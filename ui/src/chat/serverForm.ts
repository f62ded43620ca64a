import type { FormField } from "../bridge/bindings";
import { t } from "../language/text";
import { parse } from "../primitives/NumberField";

/** What is filled into a field: a text or a number as it is typed, a switch, or which of the options are chosen. */
export type Filled = string | boolean | number[];

/** What is filled into a form, by the names of its fields. */
export type FilledForm = ReadonlyMap<string, Filled>;

/** A form as the server has filled it in. */
export const beginning = (fields: FormField[]): FilledForm =>
  new Map(fields.map((field) => [field.name, begunWith(field)]));

function begunWith({ kind, default: json }: FormField): Filled {
  const value: unknown = json === null ? null : JSON.parse(json);
  switch (kind.kind) {
    case "text":
      if (typeof value !== "string") return "";
      return kind.format === "date_time" ? localTime(value) : value;
    case "number":
      return typeof value === "number" ? String(value) : "";
    case "switch":
      return value === true;
    case "choice": {
      const chosen = Array.isArray(value) ? value : [value];
      const places = kind.options.flatMap((option, place) => (chosen.includes(option.value) ? [place] : []));
      return kind.several ? places : places.slice(0, 1);
    }
  }
}

/** A time as its field shows it: here, and without a zone. */
function localTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return "";
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, time.getSeconds() === 0 ? 16 : 19);
}

/** Whether something must be filled in. Of several options, none is an answer too where none are enough. */
export const isNeeded = ({ required, kind }: FormField): boolean =>
  required && !(kind.kind === "choice" && kind.several && (kind.least ?? 0) === 0);

const isEmpty = (filled: Filled): boolean =>
  typeof filled === "string" ? !/\S/.test(filled) : typeof filled !== "boolean" && filled.length === 0;

/** What is wrong with what is filled in, as far as the page knows; null where that is nothing. */
export function problemOf({ kind }: FormField, filled: Filled): string | null {
  if (typeof filled !== "string" || isEmpty(filled)) return null;
  if (kind.kind === "number") {
    const read = readNumber(filled, kind);
    return "problem" in read ? read.problem : null;
  }
  const isTime = kind.kind === "text" && kind.format === "date_time";
  return isTime && Number.isNaN(Date.parse(filled)) ? t("server-question.no-time") : null;
}

const readNumber = (text: string, { whole, least, most }: { whole: boolean } & Bounds) =>
  parse(text, { min: least ?? -Infinity, max: most ?? Infinity, whole, empty: "" });

interface Bounds {
  least: number | null;
  most: number | null;
}

/** Why a form cannot be sent yet; null if it can. Everything else is the shell's to judge. */
export function missing(fields: FormField[], form: FilledForm): string | null {
  for (const field of fields) {
    const filled = form.get(field.name) ?? "";
    if (isNeeded(field) && isEmpty(filled)) return t("server-question.missing", { field: field.title });
    const problem = problemOf(field, filled);
    if (problem !== null) return t("server-question.wrong", { field: field.title, problem });
  }
  return null;
}

/** What is sent: an object in JSON. What is empty is left out, unless it must be there. */
export function written(fields: FormField[], form: FilledForm): string {
  const values = fields.flatMap((field) => {
    const filled = form.get(field.name) ?? "";
    return isEmpty(filled) && !field.required ? [] : [[field.name, valueIn(field, filled)] as const];
  });
  return JSON.stringify(Object.fromEntries(values));
}

function valueIn({ kind }: FormField, filled: Filled): unknown {
  if (typeof filled === "boolean") return filled;
  if (typeof filled !== "string") {
    const chosen = kind.kind === "choice" ? filled.map((place) => kind.options[place]?.value) : [];
    return kind.kind === "choice" && kind.several ? chosen : chosen[0];
  }
  if (kind.kind === "number") {
    const read = readNumber(filled, kind);
    return "value" in read ? read.value : null;
  }
  return kind.kind === "text" && kind.format === "date_time" ? new Date(filled).toISOString() : filled;
}
