import { useEffect, useState } from "react";
import type { CallDifference, CallId, ErrorReport } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";

/** So long after the last key the change is asked for anew. In milliseconds. */
const PAUSE = 300;

interface Known {
  /** The arguments that it is of, and how often it was asked for. */
  of: string | null;
  attempt: number;
  difference: CallDifference | null;
  error: ErrorReport | null;
}

/** What a call would change in a file. */
export interface Difference {
  /** As it is with the arguments that the call has now; null until that is known. */
  now: CallDifference | null;
  /** The last one that was known: what stands there while another is worked out. */
  last: CallDifference | null;
  /** Why it cannot be told. */
  error: ErrorReport | null;
  /** Asks once more. */
  again: () => void;
}

/**
 * Asks the shell what a call would change, with arguments that the person has `changed` once they pause. `asks`:
 * whether there is something to ask for, which there is not while what is typed are no arguments.
 */
export function useDifference(call: CallId, changed: string | null, asks: boolean): Difference {
  const { message, step, ordinal } = call;
  const [attempt, setAttempt] = useState(0);
  const [known, setKnown] = useState<Known | null>(null);
  const [last, setLast] = useState<CallDifference | null>(null);
  useEffect(() => {
    if (!asks) return;
    let wanted = true;
    const keep = (difference: CallDifference | null, error: ErrorReport | null) => {
      if (!wanted) return;
      setKnown({ of: changed, attempt, difference, error });
      if (difference !== null) setLast(difference);
    };
    const ask = () =>
      shell.callDifference({ message, step, ordinal }, changed).then(
        (difference) => keep(difference, null),
        (error) => keep(null, reportOf(error)),
      );
    const timer = changed === null ? undefined : setTimeout(ask, PAUSE);
    if (changed === null) ask();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [message, step, ordinal, changed, asks, attempt]);
  const current = asks && known?.of === changed && known.attempt === attempt ? known : null;
  return {
    now: current?.difference ?? null,
    last,
    error: current?.error ?? null,
    again: () => setAttempt((times) => times + 1),
  };
}
