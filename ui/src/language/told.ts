import type { ErrorReport } from "../bridge/bindings";
import { lookUp } from "./text";

/** An error as a person reads it. */
export interface Told extends ErrorReport {
  /** What the shell says of it in English, where the page speaks another language; what is named is named there. */
  details: string | null;
}

/** An error that the page finds itself. */
export const ownError = (code: string, message: string, hint: string): Told => ({
  code,
  message,
  hint,
  details: null,
});

/** An error in the page's language. What the page says itself is in it already. */
export function told(error: ErrorReport | Told): Told {
  if ("details" in error) return error;
  const { code, message, hint } = error;
  const name = `error-${code.replaceAll("_", "-")}`;
  const [general, advice] = [lookUp(name), lookUp(`${name}.hint`)];
  if (general === null) return { code, message, hint, details: null };
  return { code, message: general, hint: advice ?? "", details: `${message} ${hint}`.trim() };
}

/** Why something failed, in a line beside others. */
export function why(error: ErrorReport): string {
  const { message, details } = told(error);
  return details === null ? message : `${message} (${details})`;
}
