import type { ChatsTrouble } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { bytes } from "../primitives/format";
import { useStore } from "../state/store";
import { restoreChats } from "./files";

/** Why there are no chats, and what can be done about it. */
export function Trouble({ trouble: { error, backups } }: { trouble: ChatsTrouble }) {
  const failed = useStore((state) => state.actionError);
  const newest = backups[0];
  return (
    <div className="trouble">
      <h1>{error.code === "chats_corrupt" ? "The chats are damaged" : "The chats could not be opened"}</h1>
      <ErrorNote error={error} testId="chats-trouble">
        {newest && (
          <div className="actions">
            <button
              type="button"
              className="button primary"
              data-testid="restore-chats"
              onClick={restoreChats}
            >
              Restore the copy of {moment(newest.made_at)}
            </button>
          </div>
        )}
      </ErrorNote>
      {newest && (
        <p>
          The copy has {bytes(newest.bytes)}. The damaged file is kept beside it, so nothing is thrown away.
        </p>
      )}
      {failed && failed.code !== error.code && <ErrorNote error={failed} testId="action-error" />}
    </div>
  );
}

const moment = (at: number): string =>
  new Date(at).toLocaleString("en", { day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" });
