import { shell } from "../bridge/bridge";
import { attempt } from "../frame/errors";
import { t } from "../language/text";
import { fileOf } from "./document";
import { paperOf } from "./paper";

/** Writes the branch of a chat that is shown into an HTML file that the person chooses. Returns its path; null where
 *  they chose none. */
export async function saveChat(chat: number, pictures: boolean): Promise<string | null> {
  const opened = await shell.readChat(chat);
  const paper = await paperOf(opened, { pictures, thinking: true });
  return shell.savePaper(opened.chat.title, fileOf(paper, opened.chat.title || t("paper-unnamed")));
}

/** Has the system print the branch of a chat that is shown, with its pictures. */
export const printChat = (chat: number | null) =>
  attempt(async () => {
    if (chat === null) return;
    const paper = await paperOf(await shell.readChat(chat), { pictures: true, thinking: false });
    await Promise.all([...paper.querySelectorAll("img")].map((image) => image.decode().catch(() => {})));
    document.querySelector("body > .paper")?.remove();
    document.body.append(paper);
    // The system asks for the pages again while its dialog is open. Who uses the window again has left that.
    const left = new AbortController();
    for (const hand of ["pointerdown", "keydown"])
      window.addEventListener(
        hand,
        () => {
          paper.remove();
          left.abort();
        },
        { signal: left.signal, capture: true },
      );
    await shell.printPaper();
  });
