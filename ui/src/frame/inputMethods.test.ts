import { beforeEach, describe, expect, it } from "vitest";
import { reserveInputMethodKeys } from "./inputMethods";

/** What hears of a key behind the input methods. */
const window = new EventTarget();
let heard: string[] = [];
reserveInputMethodKeys(window);
for (const type of ["keydown", "keyup"])
  window.addEventListener(type, (event) => heard.push(`${event.type} ${(event as KeyboardEvent).key}`));
beforeEach(() => {
  heard = [];
});

function press(key: string, { isComposing = false, keyCode }: { isComposing?: boolean; keyCode: number }) {
  for (const type of ["keydown", "keyup"])
    window.dispatchEvent(Object.assign(new Event(type), { key, isComposing, keyCode }));
}

describe("keys that an input method takes", () => {
  it.each(["Enter", "Escape", "ArrowDown", "Tab", "k"])("does nothing else with %s", (key) => {
    press(key, { isComposing: true, keyCode: 13 });
    press(key, { isComposing: true, keyCode: 229 });
    // In WebKit the composition is over when its last key is told.
    press(key, { keyCode: 229 });
    expect(heard).toEqual([]);
  });

  it("are no others", () => {
    press("Enter", { keyCode: 13 });
    expect(heard).toEqual(["keydown Enter", "keyup Enter"]);
  });
});
