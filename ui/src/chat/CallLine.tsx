import { useEffect, useId, useState } from "react";
import type { ReplyCall } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import type { Calling } from "../state/server";
import { useStore } from "../state/store";
import { CallDetails } from "./CallDetails";
import { aboutCall } from "./callArguments";
import {
  callCaution,
  callSign,
  callStanding,
  callTime,
  type NamedTool,
  namedByModel,
  namedTool,
} from "./callWords";
import { subjectOf } from "./ownCalls";
import { visible } from "./visible";

/** A call of a tool, in a line; all of it on a click. */
export function CallLine({ call }: { call: ReplyCall }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const tools = useStore((state) => state.tools);
  const standing = callStanding(call);
  const time = callTime(call);
  const caution = callCaution(call);
  const { state } = call.state;
  const given = call.arguments_sent ?? call.arguments_written;
  return (
    <div className={`call ${state.replace("_", "-")}`} data-testid="call" data-state={state}>
      <button
        type="button"
        className="call-head"
        data-testid="call-toggle"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <Icon name={callSign(call)} />
        <ToolName named={namedTool(call, tools)} />
        <About text={aboutCall(given, subjectOf(call, given))} />
        <span className="call-standing numbers">
          {standing !== null && <span>{standing}</span>}
          {state === "running" ? <Clock since={call.started_at} /> : time !== null && <span>{time}</span>}
        </span>
        <Icon name="right" />
      </button>
      {caution !== null && (
        // Why a call was refused is written for the model, in its language.
        <p className="call-caution" lang={state === "refused" ? "en" : undefined}>
          {visible(caution)}
        </p>
      )}
      {open && (
        <div id={id}>
          <CallDetails call={call} />
        </div>
      )}
    </div>
  );
}

/** How long a call has been running, once that is a second. */
function Clock({ since }: { since: number | null }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const passed = since === null ? 0 : Math.floor((now - since) / 1000);
  return <span>{passed < 1 ? t("call-runs") : t("call-runs.seconds", { seconds: passed })}</span>;
}

/** A call as far as the model has written it. */
export function CallingLine({ calling: { tool, written } }: { calling: Calling }) {
  const tools = useStore((state) => state.tools);
  return (
    <div className="call calling" data-testid="calling">
      <p className="call-head">
        <Icon name="write" />
        <ToolName named={namedByModel(tool, tools)} />
        <About text={visible(written).replace(/\s+/g, " ").trim().slice(-80) || null} />
        <span className="call-standing">{t("call-written")}</span>
      </p>
    </div>
  );
}

function ToolName({ named: { name, server } }: { named: NamedTool }) {
  if (server === null) return <span className="call-name">{name}</span>;
  return (
    <span className="call-name">
      {server}
      <span className="dot"> · </span>
      <code>{name}</code>
    </span>
  );
}

/** What it is about; cut where there is no room. */
const About = ({ text }: { text: string | null }) =>
  text === null ? (
    <span className="spring" />
  ) : (
    <span className="call-about">
      <span className="dot"> · </span>
      {text}
    </span>
  );
