import type { ReplyStats } from "../bridge/bindings";
import { t } from "../language/text";
import { keysLabel } from "../palette/table";
import { explained, footerParts } from "../primitives/format";
import { useStore } from "../state/store";
import { inspectReply } from "./actions";
import { Further } from "./Further";
import { Pulse } from "./Pulse";
import { seenLabel, unseenLabel } from "./pictures";
import { inspected } from "./view";

/** Columns of the pulse once a reply is finished. */
const COLUMNS = 11;

/** The numbers of a finished reply; all of them on a click, in the panel. */
export function FinishedLine({ message, stats }: { message: number; stats: ReplyStats }) {
  const open = useStore((state) => inspected(state)?.id === message);
  const pulse = useStore((state) => state.preferences.pulse);
  const unseen = unseenLabel(stats);
  const { gain, speed, pass, accepted } = footerParts(stats);
  return (
    <button
      type="button"
      className="finished-line numbers"
      data-testid="reply-footer"
      aria-expanded={open}
      onClick={() => inspectReply(message)}
      {...explained(t("chat-how-made", { keys: keysLabel("statistics") ?? "" }))}
    >
      {pulse && stats.passes.length > 0 && <Pulse passes={stats.passes} columns={COLUMNS} />}
      <strong>{gain ?? speed}</strong>
      {gain !== null && <Further>{speed}</Further>}
      <Further className="pass-part">{pass}</Further>
      {accepted !== null && <Further className="accepted-part">{accepted}</Further>}
      {unseen !== null ? (
        <Further className="seen-part">{unseen}</Further>
      ) : (
        stats.tower_seconds > 0 && <Further className="seen-part">{seenLabel(stats)}</Further>
      )}
    </button>
  );
}
