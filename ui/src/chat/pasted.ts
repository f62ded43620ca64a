import type { PastedFile } from "../bridge/bindings";
import { ShellError } from "../bridge/bridge";
import { t } from "../language/text";
import { ownError } from "../language/told";

/** More than this, together, is not handed over, in bytes: a path would do, which a paste does not tell. */
export const MAX_PASTED_BYTES = 32 << 20;
/** Bytes that are turned into text at a time. */
const PIECE = 1 << 15;

/** The files of a paste that is to be attached; none if it is text, which may come with a picture of itself. */
export const filesOf = (pasted: Pick<DataTransfer, "files" | "getData">): File[] =>
  pasted.getData("text/plain") === "" ? [...pasted.files] : [];

type Pasted = Pick<File, "name" | "size" | "arrayBuffer">;

/** What is in files that were pasted. They are read one after the other, and only if all together are not too large. */
export async function contentsOf(files: Pasted[]): Promise<PastedFile[]> {
  checkSize(files);
  const contents: PastedFile[] = [];
  for (const file of files) contents.push(await contentOf(file));
  return contents;
}

function checkSize(files: Pasted[]): void {
  if (files.reduce((sum, { size }) => sum + size, 0) <= MAX_PASTED_BYTES) return;
  const large = files.find(({ size }) => size > MAX_PASTED_BYTES);
  const megabytes = MAX_PASTED_BYTES >> 20;
  const message = large
    ? t("reply-pasted-large", { name: large.name, megabytes })
    : t("reply-pasted-all-large", { megabytes });
  const hint = t(large ? "reply-pasted-instead" : "reply-pasted-all-large.hint");
  throw new ShellError(ownError("attachment_too_large", message, hint));
}

async function contentOf(file: Pasted): Promise<PastedFile> {
  const { name } = file;
  let bytes: ArrayBuffer;
  try {
    bytes = await file.arrayBuffer();
  } catch {
    const message = t("reply-pasted-unread", { name });
    throw new ShellError(ownError("attachment_not_read", message, t("reply-pasted-instead")));
  }
  return { name, content: base64(new Uint8Array(bytes)) };
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
