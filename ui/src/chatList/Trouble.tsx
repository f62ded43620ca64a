import type { ChatsTrouble } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { bytes, writtenBy } from "../primitives/format";
import { useStore } from "../state/store";
import { restoreChats } from "./files";

/** Why there are no chats, and what can be done about it. */
export function Trouble({ trouble: { error, backups } }: { trouble: ChatsTrouble }) {
  const failed = useStore((state) => state.actionError);
  const newest = backups[0];
  const isNewer = error.code === "chats_newer";
  return (
    <div className="trouble">
      <h1>{t(error.code === "chats_corrupt" ? "chats-trouble-corrupt" : "chats-trouble")}</h1>
      <ErrorNote
        error={error}
        testId="chats-trouble"
        actions={
          newest && (
            <button
              type="button"
              className={isNewer ? "button" : "button primary"}
              data-testid="restore-chats"
              onClick={restoreChats}
            >
              {t("chats-trouble-restore", { date: moment(newest.made_at) })}
            </button>
          )
        }
      >
        {newest && (
          <p className="signed-hint numbers">
            {t(isNewer ? "chats-trouble-newer" : "chats-trouble-damaged", { size: bytes(newest.bytes) })}
          </p>
        )}
      </ErrorNote>
      {failed && failed.code !== error.code && <ErrorNote error={failed} testId="action-error" />}
    </div>
  );
}

/** A date and a time of day; of the ways to say them in English the one without a.m. and p.m. */
const moment = (time: number): string =>
  new Intl.DateTimeFormat(writtenBy(), {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  }).format(time);
