import type { IconName } from "../primitives/icons";

/** What a note is about: something failed, room or memory is short, or something is away or full. */
export type NoteKind = "failed" | "short" | "away" | "unplugged" | "full";

/** The sign of each kind. It says what the colour behind it says. */
export const SIGNS: Record<NoteKind, IconName> = {
  failed: "warn",
  short: "disk",
  away: "cloudOff",
  unplugged: "disk",
  full: "book",
};

/** Errors that are not failures. What is not here is one. */
const KINDS = new Map<string, NoteKind>([
  ["out_of_memory", "short"],
  ["no_room_to_measure", "short"],
  ["prompt_too_large", "short"],
  ["disk_full", "short"],
  ["chats_full", "short"],
  ["hub_unreachable", "away"],
  ["hub_busy", "away"],
  ["library_offline", "unplugged"],
  ["no_model", "unplugged"],
]);

/** What an error with this code is about. */
export const noteKind = (code: string): NoteKind => KINDS.get(code) ?? "failed";
