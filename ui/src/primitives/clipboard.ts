/** A text, and the same as HTML for programs that keep its form. */
export interface Formatted {
  text: string;
  html: string;
}

export type Copied = string | Formatted | Promise<Blob>;

/** Puts a text on the clipboard, with its form where it has one, or a PNG picture, which may still be on its way. */
export async function copy(content: Copied): Promise<void> {
  // At once: webviews let the clipboard be written only while they handle what the person does.
  if (content instanceof Promise)
    await navigator.clipboard.write([new ClipboardItem({ "image/png": content })]);
  else await copyText(typeof content === "string" ? { text: content, html: "" } : content);
}

async function copyText({ text, html }: Formatted): Promise<void> {
  try {
    if (html === "") await navigator.clipboard.writeText(text);
    else {
      const blob = (type: string, content: string) => new Blob([content], { type });
      const kinds = { "text/plain": blob("text/plain", text), "text/html": blob("text/html", html) };
      await navigator.clipboard.write([new ClipboardItem(kinds)]);
    }
  } catch {
    // Some webviews withhold the clipboard interface from the app's own address.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "off-screen";
    field.addEventListener("copy", (event) => {
      event.clipboardData?.setData("text/plain", text);
      if (html !== "") event.clipboardData?.setData("text/html", html);
      event.preventDefault();
    });
    document.body.append(field);
    const focused = document.activeElement;
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
    if (!copied) throw new Error("The clipboard is not available.");
  }
}
