import type { Message, Provenance, ReplyStep } from "../bridge/bindings";
import { RevealedText } from "../reveal/RevealedText";
import { answerRuns } from "../reveal/useProvenance";
import type { LiveReply } from "../state/server";
import { runsOfSteps } from "../state/steps";
import { useStore } from "../state/store";
import { CallGroup } from "./CallGroup";
import { CallingLine, CallLine } from "./CallLine";
import { CallQuestion } from "./CallQuestion";
import { isOpenQuestion } from "./callWords";
import { type Part, partsOf, plainParts } from "./rounds";
import { Thinking } from "./Thinking";

interface Props {
  message: Message;
  live: LiveReply | undefined;
  provenance: Provenance | null;
  /** Its text is being changed elsewhere. */
  textless: boolean;
}

/** What a reply says: for each round what was thought, what was written and what was called. A plain one has one. */
export function Rounds({ message, live, provenance, textless }: Props) {
  const wake = useStore((state) => state.preferences.wake);
  const rounds = live?.steps ?? message.steps;
  const steps = rounds.length > 0 ? rounds : [onlyRound(message, live)];
  const writing = message.status.state === "streaming";
  const last = steps.length - 1;
  const thought = provenance && runsOfSteps(steps, "thinking", provenance.thinking);
  const written = provenance && runsOfSteps(steps, "text", provenance.answer);
  const newest = live && (wake ? (runsOfSteps(steps, "text", answerRuns(live))[last] ?? []) : []);
  const draw = (part: Part) => {
    switch (part.kind) {
      case "thinking": {
        const { at, step } = part;
        const open = at === last && step.text === "" && step.calls.length === 0 && !live?.calling;
        return (
          <Thinking
            key={part.key}
            message={message.id}
            text={step.thinking}
            runs={thought?.[at] ?? null}
            running={writing && open}
            unfinished={!writing && open}
            since={at === last ? (live?.thinkingSince ?? null) : null}
            seconds={(at === last ? live?.thoughtSeconds : null) ?? step.stats?.thinking.seconds ?? null}
            cut={step.stats?.thinking.cut ?? false}
          />
        );
      }
      case "text": {
        const { at, step } = part;
        const growing = writing && at === last;
        return (
          <div key={part.key} className="answer" data-testid="answer">
            <RevealedText
              text={step.text}
              complete={!growing}
              runs={written?.[at] ?? null}
              wake={growing && newest ? newest : null}
            />
          </div>
        );
      }
      case "call":
        return message.status.state === "asking" && isOpenQuestion(part.call) ? (
          <CallQuestion key={part.key} call={part.call} />
        ) : (
          <CallLine key={part.key} call={part.call} />
        );
      case "group":
        return <CallGroup key={part.key} calls={part.calls} />;
    }
  };
  // What has no calls in the end, though it might have had, keeps its place and what is open in it.
  const parts = rounds.length > 0 ? partsOf(steps, writing) : plainParts(steps[0] as ReplyStep);
  return (
    <>
      {parts.filter(({ kind }) => kind !== "text" || !textless).map(draw)}
      {live?.calling && <CallingLine calling={live.calling} />}
    </>
  );
}

/** A reply without rounds, as one. */
const onlyRound = ({ thinking, text, stats, status }: Message, live: LiveReply | undefined): ReplyStep => ({
  ordinal: 0,
  thinking: live?.thinking ?? thinking,
  text: live?.answer ?? text,
  stats,
  status,
  calls: [],
});
