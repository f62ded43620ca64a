import { useId, useState } from "react";
import type { ReplyCall } from "../bridge/bindings";
import { t } from "../language/text";
import { seconds } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { CallLine } from "./CallLine";

/** Several calls in a row that are done, folded. */
export function CallGroup({ calls }: { calls: ReplyCall[] }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const time = calls.reduce(
    (sum, { started_at, ended_at }) => sum + ((ended_at ?? 0) - (started_at ?? ended_at ?? 0)),
    0,
  );
  return (
    <div className="call group" data-testid="call-group">
      <button
        type="button"
        className="call-head"
        data-testid="call-group-toggle"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <Icon name="wrench" />
        <span className="call-name">{t("call-steps", { count: calls.length })}</span>
        <span className="spring" />
        <span className="call-standing numbers">{seconds(time / 1000)}</span>
        <Icon name="right" />
      </button>
      {open && (
        <div id={id} className="call-group-lines">
          {calls.map((call) => (
            <CallLine key={`${call.id.step}.${call.id.ordinal}`} call={call} />
          ))}
        </div>
      )}
    </div>
  );
}
