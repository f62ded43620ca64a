import { useCallback, useState } from "react";
import type { ErrorReport } from "../bridge/bindings";
import { reportOf } from "../bridge/bridge";

interface Deed {
  /** Whether it is being done. */
  busy: boolean;
  /** Why it failed the last time. */
  error: ErrorReport | null;
  /** Does something; returns whether it was done. */
  run: (act: () => Promise<unknown>) => Promise<boolean>;
  /** What failed no longer matters. */
  forget: () => void;
}

/** Something that is done from one place, which says there why it failed. */
export function useDeed(): Deed {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ErrorReport | null>(null);
  const run = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setError(null);
    try {
      await act();
      return true;
    } catch (error) {
      setError(reportOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const forget = useCallback(() => setError(null), []);
  return { busy, error, run, forget };
}
