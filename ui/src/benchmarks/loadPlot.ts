import type { ComponentType } from "react";
import type { PlotProps } from "./Plot";

/**
 * Loads the chart. Its library asks for number formats in `navigator.language` as soon as it is there, and WebKit in
 * the C locale names a language that does not exist; English stands in for it meanwhile. Where the chart cannot be
 * loaded there is none: its sentence and its table remain.
 */
export async function loadPlot(): Promise<{ default: ComponentType<PlotProps> }> {
  const known = isLanguage(navigator.language);
  if (!known) Object.defineProperty(navigator, "language", { value: "en", configurable: true });
  try {
    return await import("./Plot");
  } catch (error) {
    console.error(error);
    return { default: () => null };
  } finally {
    if (!known) Reflect.deleteProperty(navigator, "language");
  }
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
