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

/** A drawing as a picture, in which nothing runs and which fetches nothing. */
export function pictureOf(text: string): HTMLImageElement {
  const picture = new Image();
  picture.alt = "Drawing";
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  return picture;
}
