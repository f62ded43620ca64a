import { useEffect, useRef, useState } from "react";
import type { DraftRun, Message, Provenance } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import type { LiveReply } from "../state/server";
import { useStore } from "../state/store";
import { fitRuns, joinRuns } from "./runs";

const NONE: Provenance = { thinking: [], answer: [] };

/** Where the text of a reply came from, if that is to be seen; null otherwise. */
export function useProvenance(message: Message, live: LiveReply | undefined): Provenance | null {
  const reveal = useStore((state) => state.revealDrafts);
  const stored = useStored(message, reveal && !(live && sawBegin(live)));
  // Until the store has told of a reply that has ended, what was seen of it while it was written.
  const seen = useRef<Provenance | null>(null);
  if (!reveal) return null;
  if (live) {
    const known = stored?.provenance ?? NONE;
    seen.current = {
      thinking: behind(known.thinking, live.before.thinking, live.provenance.thinking),
      answer: behind(known.answer, live.before.answer, live.provenance.answer),
    };
    return seen.current;
  }
  return (stored?.ended ? null : seen.current) ?? stored?.provenance ?? NONE;
}

/** Where the answer that is being written came from, as far as this page has seen it. */
export const answerRuns = ({ before, provenance }: LiveReply): DraftRun[] =>
  behind([], before.answer, provenance.answer);

const sawBegin = ({ before }: LiveReply): boolean => before.thinking === 0 && before.answer === 0;

/** What was written behind the first `before` characters of what is known. */
const behind = (known: DraftRun[], before: number, written: DraftRun[]): DraftRun[] =>
  joinRuns(fitRuns(known, before), written);

/** What the store knows of a reply, and whether that was asked for when it had ended. */
function useStored({ id, status }: Message, needed: boolean) {
  const ended = status.state !== "streaming";
  const [stored, setStored] = useState<{ provenance: Provenance; ended: boolean } | null>(null);
  useEffect(() => {
    if (!needed) return;
    let wanted = true;
    // Without an answer the reply can still be read.
    const tell = (provenance: Provenance) => wanted && setStored({ provenance, ended });
    shell.provenance(id).then(tell, () => tell(NONE));
    return () => {
      wanted = false;
    };
  }, [id, needed, ended]);
  return stored;
}
