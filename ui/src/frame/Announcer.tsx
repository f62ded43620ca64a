import { useState } from "react";
import type { Message, ReplyStats } from "../bridge/bindings";
import { comparable } from "../chat/view";
import { t } from "../language/text";
import { perPass, rate, speedUp } from "../primitives/format";
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

/** The words that are heard, once each: the gain where the line below the reply tells of one. */
export function announcement(message: Message): string {
  const { status, stats } = message;
  if (status.state === "streaming") return t("frame-reply-begun");
  if (status.state === "interrupted") return t("frame-reply-interrupted");
  if (status.state === "asking") return t("call-announce");
  if (status.state === "paused") return t("call-announce.paused");
  switch (status.reason) {
    case "cancelled":
      return t("frame-reply-stopped");
    case "length":
      return t("frame-reply-cut");
    case "error":
      return t("frame-reply-failed");
    case "stop":
      return stats === null || stats.emitted === 0
        ? t("frame-reply-finished")
        : finished(comparable(message, stats));
  }
}

/** Says how fast a reply was, against decoding without guesses where that was measured. */
function finished(stats: ReplyStats): string {
  const gained = speedUp(stats);
  return gained === null
    ? t("frame-reply-finished.speed", { speed: rate(stats.tokens_per_second) })
    : t("frame-reply-finished.gain", { factor: perPass(gained) });
}
