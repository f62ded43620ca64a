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
      <ErrorNote
        error={error}
        testId="chats-trouble"
        actions={
          newest && (
            <button
              type="button"
              className={error.code === "chats_newer" ? "button" : "button primary"}
              data-testid="restore-chats"
              onClick={restoreChats}
            >
              Restore the copy of {MOMENT.format(newest.made_at)}
            </button>
          )
        }
      >
        {newest && (
          <p className="signed-hint numbers">
            The copy has {bytes(newest.bytes)}. The {error.code === "chats_newer" ? "newer" : "damaged"} file
            is kept beside it, so nothing is thrown away.
          </p>
        )}
      </ErrorNote>
      {failed && failed.code !== error.code && <ErrorNote error={failed} testId="action-error" />}
    </div>
  );
}

const MOMENT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "long",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
