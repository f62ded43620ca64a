/** What an event tells of a key. */
type Key = Pick<KeyboardEvent, "isComposing" | "keyCode">;

/** The key code of a key that an input method has taken. */
const PROCESSED = 229;

/**
 * Whether a key belongs to an input method (Japanese, Chinese, Korean, accents). WebKit ends the composition before it
 * tells of the key that has ended it, which only the code still gives away.
 */
const isProcessed = ({ isComposing, keyCode }: Key): boolean => isComposing || keyCode === PROCESSED;

/**
 * Leaves the keys of input methods to them: nothing else that listens for keys, at or below `target`, hears of these.
 * What the webview itself does with them is not changed. To be called before anything else listens.
 */
export function reserveInputMethodKeys(target: EventTarget = window): void {
  const reserve = (event: Event) => {
    if (isProcessed(event as KeyboardEvent)) event.stopImmediatePropagation();
  };
  for (const type of ["keydown", "keyup"]) target.addEventListener(type, reserve, { capture: true });
}
