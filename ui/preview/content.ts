/** What would lead out of the frame, ask for something or run: the content policy refuses it too. */
const LEFT_OUT =
  "script, noscript, link, meta, base, iframe, frame, frameset, object, embed, portal, template";

/** What a page of HTML shows, without what it would run or fetch. */
export function bodyOf(text: string): Node[] {
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const element of page.querySelectorAll(LEFT_OUT)) element.remove();
  for (const element of page.querySelectorAll("*"))
    for (const name of element.getAttributeNames())
      if (/^on|^(?:ping|autofocus|formaction|target)$/i.test(name)) element.removeAttribute(name);
  const body = document.createElement("div");
  for (const name of ["class", "style", "dir"]) {
    const value = page.body.getAttribute(name);
    if (value !== null) body.setAttribute(name, value);
  }
  body.append(...page.body.childNodes);
  return [...page.head.querySelectorAll("style"), body];
}

/** So many elements are drawn at most. Few lines can stand for billions of them, by references to references. */
const MOST_ELEMENTS = 50_000;

/** Whether drawing this would hold up the window. */
export function isTooMuch(root: Element): boolean {
  const known = new Map<Element, number>();
  const count = (element: Element): number => {
    const before = known.get(element);
    if (before !== undefined) return before;
    // What refers to itself is not drawn again.
    known.set(element, 0);
    let all = 1;
    for (const child of element.children) all += count(child);
    const to = element.localName === "use" && /^#(.+)$/.exec(referenceOf(element))?.[1];
    const target = to && root.querySelector(`[id="${CSS.escape(to)}"]`);
    if (target) all += count(target);
    known.set(element, all);
    return all;
  };
  try {
    return count(root) > MOST_ELEMENTS;
  } catch {
    // Nested deeper than can be followed.
    return true;
  }
}

const referenceOf = (element: Element): string =>
  element.getAttribute("href") ?? element.getAttribute("xlink:href") ?? "";

/** A drawing as a picture, in which nothing runs and which fetches nothing. */
export function pictureOf(text: string, name: string): HTMLImageElement {
  const picture = new Image();
  picture.alt = name;
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  return picture;
}
