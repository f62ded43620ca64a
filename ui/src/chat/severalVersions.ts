import type { Message } from "../bridge/bindings";
import { t } from "../language/text";
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
  if (first === undefined) return t("reply-versions.none");
  const role = several.every(({ role }) => role === first.role) ? first.role : "other";
  if (several.length === 1)
    return t("reply-versions.of-one", { role, count: versions[first.id]?.length ?? 0 });
  return t("reply-versions.of-several", { role, count: several.length });
}
