import type { IconName } from "../primitives/icons";

/** What a note is about: something failed, room or memory is short, something else goes first, is away or is full. */
export type NoteKind = "failed" | "short" | "busy" | "away" | "unplugged" | "full";

/** The sign of each kind. It says what the colour behind it says. */
export const SIGNS: Record<NoteKind, IconName> = {
  failed: "warn",
  short: "disk",
  busy: "clock",
  away: "cloudOff",
  unplugged: "disk",
  full: "book",
};

/** Errors that are not failures. What is not here is one. */
export const KINDS: ReadonlyMap<string, NoteKind> = new Map<string, NoteKind>([
  ["out_of_memory", "short"],
  ["no_room_to_measure", "short"],
  ["prompt_too_large", "short"],
  ["disk_full", "short"],
  ["chats_full", "short"],
  ["mac_too_small", "short"],
  ["macs_do_not_fit", "short"],
  // Another reply, another piece of work or another program has to end first.
  ["another_model_chosen", "busy"],
  ["busy", "busy"],
  ["chat_goes_first", "busy"],
  ["chats_busy", "busy"],
  ["converting", "busy"],
  ["engine_busy", "busy"],
  ["in_use", "busy"],
  ["library_busy", "busy"],
  ["model_changed", "busy"],
  ["model_not_ready", "busy"],
  ["still_writing", "busy"],
  ["lender_busy", "busy"],
  ["pairing_busy", "busy"],
  ["hub_unreachable", "away"],
  ["hub_busy", "away"],
  ["mac_lost", "away"],
  ["peer_unreachable", "away"],
  ["peer_silent", "away"],
  ["library_offline", "unplugged"],
  ["no_model", "unplugged"],
  // More than a model can read.
  ["prompt_too_long", "full"],
  ["attachment_too_large", "full"],
  ["attachments_too_many", "full"],
]);

/** What an error with this code is about. */
export const noteKind = (code: string): NoteKind => KINDS.get(code) ?? "failed";
