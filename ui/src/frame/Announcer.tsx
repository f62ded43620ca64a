import { useState } from "react";
import type { Message } from "../bridge/bindings";
import { footerLabel } from "../primitives/format";
import { useStore } from "../state/store";

/** Tells screen readers when a reply begins and ends, and nothing in between. */
export function Announcer() {
  const last = useStore((state) => state.messages.at(-1));
  const [watched, setWatched] = useState<number | null>(null);
  const now = watch(watched, last);
  if (now !== watched) setWatched(now);
  return (
    <p className="off-screen" role="status">
      {last && now === last.id ? announcement(last) : ""}
    </p>
  );
}

/** The reply that is watched once `last` is the last message: only one that was seen while it was written. */
export function watch(watched: number | null, last: Message | undefined): number | null {
  if (!last) return null;
  return last.status.state === "streaming" || last.id === watched ? last.id : null;
}

function announcement({ status, stats }: Message): string {
  if (status.state === "streaming") return "A reply is being written.";
  return stats ? `The reply has ended. ${footerLabel(stats)}` : "The reply has ended.";
}
