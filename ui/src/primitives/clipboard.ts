/** Puts a text on the clipboard, or a PNG picture, which may still be on its way. */
export async function copy(content: string | Promise<Blob>): Promise<void> {
  // At once: webviews let the clipboard be written only while they handle what the person does.
  if (typeof content === "string") await copyText(content);
  else await navigator.clipboard.write([new ClipboardItem({ "image/png": content })]);
}

async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Some webviews withhold the clipboard interface from the app's own address.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "off-screen";
    document.body.append(field);
    const focused = document.activeElement;
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
    if (!copied) throw new Error("The clipboard is not available.");
  }
}
