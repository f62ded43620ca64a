import type { ReplyCall, ToolFolder } from "../bridge/bindings";
import { objectOf } from "./callArguments";

/** The arguments of the app's own tools that say what a call is about, the most telling first. */
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  read_page: ["address"],
  search_web: ["query"],
  list_files: ["path", "folder"],
  read_file: ["path"],
  search_files: ["text"],
  write_file: ["path"],
  edit_file: ["path"],
};

const FILE_TOOLS: readonly string[] = ["list_files", "read_file", "search_files", "write_file", "edit_file"];

type Called = Pick<ReplyCall, "tool" | "server">;

/** What a call of the app's own tools is about; null of all other calls, and where it does not say. */
export function subjectOf({ tool, server }: Called, json: string): string | null {
  if (server !== null) return null;
  const given = objectOf(json);
  const subject = SUBJECTS[tool]?.map((key) => given?.[key]).find((value) => isWord(value));
  if (!isWord(subject)) return null;
  return tool === "read_page" ? subject.trim().replace(/^https?:\/\//i, "") : subject;
}

const isWord = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** Whether a call changes a file, which is shown before it may, each time. */
export const changesFile = ({ tool, server }: Called): boolean =>
  server === null && (tool === "write_file" || tool === "edit_file");

export const reachesFiles = ({ tool, server }: Called): boolean =>
  server === null && FILE_TOOLS.includes(tool);

/** The host that a call of `read_page` asks for a page, with its port where that says something. */
export function hostOf(json: string): string | null {
  const address = objectOf(json)?.address;
  if (!isWord(address)) return null;
  try {
    return new URL(address.trim()).host || null;
  } catch {
    return null;
  }
}

/** The folders that a call of the file tools reaches: the one that its path begins with; without a path all. */
export function foldersOf(json: string, folders: ToolFolder[]): ToolFolder[] {
  const given = objectOf(json);
  const path = [given?.folder, given?.path].find((value) => isWord(value));
  if (!isWord(path)) return folders;
  const written = path.replace(/^(?:\.\/)+/, "");
  const begins = (text: string, name: string) => text === name || text.startsWith(`${name}/`);
  const [exact] = folders
    .filter(({ name }) => begins(written, name))
    .sort((one, other) => other.name.length - one.name.length);
  if (exact) return [exact];
  // As the shell takes it: another case is meant where only one folder can be.
  const alike = folders.filter(({ name }) => begins(written.toLowerCase(), name.toLowerCase()));
  return alike.length === 1 ? alike : [];
}
