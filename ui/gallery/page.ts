import { clock } from "./clock";

/** What a person does in the page, and what passes meanwhile. */

const nextFrame = () => new Promise((drawn) => requestAnimationFrame(drawn));

/** Waits until what has changed is drawn. */
export async function drawn(): Promise<void> {
  for (let frames = 0; frames < 3; frames += 1) await nextFrame();
}

/** Lets time go on. */
export async function pass(milliseconds: number): Promise<void> {
  clock.passed += milliseconds;
  await drawn();
}

/** Waits for the last thing of a selector. */
export async function find(selector: string): Promise<HTMLElement> {
  for (let frames = 0; frames < 600; frames += 1) {
    const found = [...document.querySelectorAll<HTMLElement>(selector)].at(-1);
    if (found) return found;
    await nextFrame();
  }
  throw new Error(`Nothing is called ${selector}.`);
}

/** Clicks the last thing with a name, or with a name and words. */
export async function click(name: string, words = ""): Promise<void> {
  await find(`[data-testid="${name}"]`);
  const named = [...document.querySelectorAll<HTMLElement>(`[data-testid="${name}"]`)];
  const target = named.findLast(
    (one) => one.textContent.includes(words) || one.ariaLabel?.includes(words) === true,
  );
  if (!target) throw new Error(`No ${name} says ${words}.`);
  const mouse = { bubbles: true, cancelable: true, button: 0 };
  target.dispatchEvent(new PointerEvent("pointerdown", { ...mouse, pointerType: "mouse" }));
  target.dispatchEvent(new MouseEvent("mousedown", mouse));
  target.dispatchEvent(new PointerEvent("pointerup", { ...mouse, pointerType: "mouse" }));
  target.dispatchEvent(new MouseEvent("mouseup", mouse));
  target.click();
  await drawn();
}

/** Types into a field, as React hears it. */
export async function type(name: string, text: string): Promise<void> {
  const field = (await find(`[data-testid="${name}"]`)) as HTMLInputElement | HTMLTextAreaElement;
  const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value")?.set?.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await drawn();
}
