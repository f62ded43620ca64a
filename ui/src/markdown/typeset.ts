import "temml/dist/Temml-Local.css";
import temml, { type Options } from "temml";

/** Deeper formulas than anyone writes could exhaust the stack of the webview. */
const MAX_DEPTH = 60;

/** No addresses, styles or classes from the text, no endless macros, nothing larger than the page. */
export const LIMITS: Options = { throwOnError: true, trust: false, maxExpand: 200, maxSize: [20, 20] };

/** Draws a formula, as MathML; null if it cannot be read. */
export function typeset(tex: string, display: boolean): Element | null {
  const place = document.createElement("span");
  try {
    temml.render(tex, place, { ...LIMITS, displayMode: display });
  } catch {
    return null;
  }
  return place.firstElementChild && !isDeeper(place, MAX_DEPTH) ? place.firstElementChild : null;
}

function isDeeper(root: Element, depth: number): boolean {
  let level: Element[] = [root];
  for (let at = 0; at < depth; at += 1) level = level.flatMap((element) => [...element.children]);
  return level.length > 0;
}
