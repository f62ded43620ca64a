import type { Message } from "../bridge/bindings";
import { count } from "../primitives/format";
import type { ServerState } from "../state/server";

/** The messages that are shown in whose place something else was written too. */
export const severalVersions = ({
  messages,
  versions,
}: Pick<ServerState, "messages" | "versions">): Message[] =>
  messages.filter(({ id }) => (versions[id]?.length ?? 0) > 1);

/** The replies that are shown and have other versions. */
export const repliesWithVersions = (state: Pick<ServerState, "messages" | "versions">): Message[] =>
  severalVersions(state).filter(({ role }) => role === "assistant");

/** How many versions there are, and of what. */
export function versionsLabel(several: Message[], versions: ServerState["versions"]): string {
  const [first] = several;
  if (first === undefined) return "none";
  const noun = { user: "question", assistant: "reply", system: "message" }[first.role];
  if (several.length === 1) return `${count(versions[first.id]?.length ?? 0)} of one ${noun}`;
  const alike = several.every(({ role }) => role === first.role);
  const nouns = alike ? noun.replace(/y$/, "ie") : "message";
  return `of ${count(several.length)} ${nouns}s`;
}
