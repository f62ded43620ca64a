import type { PastedFile } from "../bindings";
import { ShellError } from "../bridge";

/** Larger ones are not handed over, in bytes: their path would do, which a paste does not tell. */
export const LARGEST = 32 << 20;
/** Bytes that are turned into text at a time. */
const PIECE = 1 << 15;

/** The files of a paste that is to be attached; none if it is text, which may come with a picture of itself. */
export const filesOf = (pasted: Pick<DataTransfer, "files" | "getData">): File[] =>
  pasted.getData("text/plain") === "" ? [...pasted.files] : [];

/** What is in a file that was pasted. */
export async function contentOf(file: Pick<File, "name" | "size" | "arrayBuffer">): Promise<PastedFile> {
  const { name, size } = file;
  const hint = "Choose it with the button, or drop it on the window.";
  if (size > LARGEST) {
    const message = `${name} is larger than ${LARGEST >> 20} MB, which is too much to paste.`;
    throw new ShellError({ code: "attachment_too_large", message, hint });
  }
  let bytes: ArrayBuffer;
  try {
    bytes = await file.arrayBuffer();
  } catch {
    throw new ShellError({ code: "attachment_not_read", message: `${name} cannot be read.`, hint });
  }
  return { name, content: base64(new Uint8Array(bytes)) };
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
