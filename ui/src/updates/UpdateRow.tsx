import type { UpdateState } from "../bridge/bindings";
import { t } from "../language/text";
import { percent } from "../primitives/format";
import { useStore } from "../state/store";
import { showUpdate } from "./actions";

/** A newer version, in the sidebar: that it is there, how far it is, or that it did not come. */
export function UpdateRow() {
  const updates = useStore((state) => state.updates);
  const told = words(updates);
  if (told === null) return null;
  const { version, state, failed, part } = told;
  return (
    <button type="button" className="sidebar-progress" data-testid="update-row" onClick={showUpdate}>
      <span className="progress-words numbers">
        <span className="progress-name">Foretoken {version}</span>
        <span className="progress-share">{state}</span>
        {failed && <span className="failed-dot" />}
      </span>
      {part !== undefined && (
        <progress value={part ?? undefined} aria-label={t("updates-version.state", { state })} />
      )}
    </button>
  );
}

interface Told {
  version: string;
  state: string;
  failed?: boolean;
  /** How much of it is here; null where that is not known. */
  part?: number | null;
}

/** What is said of it; null where nothing is. */
function words(updates: UpdateState): Told | null {
  switch (updates.state) {
    case "available":
      return updates.postponed ? null : { version: updates.release.version, state: t("updates-row-new") };
    case "downloading": {
      const part = updates.total === null ? null : updates.done / updates.total;
      return { version: updates.release.version, state: part === null ? "" : percent(part), part };
    }
    case "waiting":
      return { version: updates.release.version, state: t("updates-row-waits") };
    case "installing":
      return { version: updates.release.version, state: t("updates-row-installing"), part: null };
    case "failed":
      return (
        updates.release && { version: updates.release.version, state: t("updates-row-failed"), failed: true }
      );
    default:
      return null;
  }
}
