import { compareMessage } from "../benchmarks/actions";
import { useCompareReason } from "../benchmarks/SideBySide";
import type { Exactness, Message, ReplyStats } from "../bridge/bindings";
import { Fold } from "../frame/Fold";
import { keysLabel } from "../palette/table";
import { ActionButton } from "../primitives/ActionButton";
import { CopyButton } from "../primitives/CopyButton";
import { Fact } from "../primitives/Fact";
import {
  bytes,
  count,
  explained,
  isGreedy,
  percent,
  perPass,
  rate,
  samplingLabel,
  seconds,
  WHAT_DRAFTS_ARE,
} from "../primitives/format";
import { toggleRevealDrafts } from "../reveal/actions";
import { useModel, useModelName, useStore } from "../state/store";
import { PassPicture } from "./PassPicture";
import { seenLabel, unseenLabel } from "./pictures";
import { drawsAlike } from "./repliesLabel";
import {
  DepthLine,
  guessed,
  Parts,
  Positions,
  partSpeeds,
  TimeStrip,
  thinkingAndAnswer,
} from "./StatsCharts";
import { changeSettings } from "./settings";
import { speedStory } from "./story";

/** How a reply was made: what guessing did for it, the picture of its average pass, and the rest folded. */
export function ReplyPage({ message, question }: { message: Message; question: Message | null }) {
  const { stats, model } = message;
  if (!stats) return null;
  return (
    <>
      <Story stats={stats} question={question} />
      <PassPicture stats={stats} />
      <RevealSwitch />
      <Folds stats={stats} model={model} />
      <div className="panel-foot">
        {question && (
          <Compare question={question} className="quiet-button" testId="compare-reply">
            Compare with plain
          </Compare>
        )}
        <CopyButton text={JSON.stringify({ model, ...stats }, null, 2)} label="Copy as JSON" />
      </div>
    </>
  );
}

function Story({ stats, question }: { stats: ReplyStats; question: Message | null }) {
  const { sentence, why, remedy } = speedStory(stats);
  return (
    <div className="story">
      <p className="story-sentence" data-testid="story">
        {sentence}
      </p>
      <p className="story-why">{why}</p>
      {remedy === "use auto" && (
        <button
          type="button"
          className="button"
          data-testid="use-auto"
          onClick={() => changeSettings({ drafting: { mode: "auto" } })}
        >
          Use Auto
        </button>
      )}
      {remedy === "compare" && question && (
        <Compare question={question} className="button" testId="measure-gain">
          Measure
        </Compare>
      )}
    </div>
  );
}

/** Everything else that is known of a reply, a line each. */
export function Folds({ stats, model }: { stats: ReplyStats; model: string | null }) {
  const fresh = stats.prompt_tokens - stats.cached_tokens;
  const guesses = guessed(stats);
  const parts = thinkingAndAnswer(stats);
  const speeds = partSpeeds(stats);
  const drawing = useDrawing(stats, model);
  const seen = seenLabel(stats);
  const unseen = unseenLabel(stats);
  return (
    <div className="folds">
      <Fold name="Speed as it went on" value={`${rate(stats.tokens_per_second)} tok/s`} testId="fold-speed">
        <dl className="facts numbers">
          <Fact name="Tokens">{count(stats.emitted)}</Fact>
          <Fact name="Passes">{count(stats.steps)}</Fact>
          <Fact name="First token after">{seconds(stats.time_to_first_token_seconds)}</Fact>
          {speeds && <Fact name="While it thought">{rate(speeds.thinking)} tok/s</Fact>}
          {speeds && <Fact name="While it answered">{rate(speeds.answer)} tok/s</Fact>}
          {stats.plain && <Fact name="Plain decoding">{rate(stats.plain.tokens_per_second)} tok/s</Fact>}
          {stats.shared_steps > 0 && (
            <Fact name="Beside other replies">
              {count(stats.shared_steps)} of {count(stats.steps)} passes
            </Fact>
          )}
        </dl>
        <DepthLine depth={stats.depth} steps={stats.steps} />
      </Fold>
      {guesses.drafted > 0 && (
        <Fold
          name="Guesses, by place"
          value={`${percent(guesses.accepted / guesses.drafted)} accepted`}
          testId="fold-guesses"
          hint={WHAT_DRAFTS_ARE}
        >
          <Positions positions={stats.positions} />
          <dl className="facts numbers">
            {stats.by_draft_model.drafted > 0 && (
              <Fact name="Drafts from DFlash">
                {count(stats.by_draft_model.accepted)} of {count(stats.by_draft_model.drafted)} accepted
              </Fact>
            )}
            {stats.looked_up.drafted > 0 && (
              <Fact name="Drafts from the text">
                {count(stats.looked_up.accepted)} of {count(stats.looked_up.drafted)} accepted
              </Fact>
            )}
          </dl>
          {stats.drafting_note && <p className="popover-note">{stats.drafting_note}</p>}
        </Fold>
      )}
      {parts && (
        <Fold
          name="Thinking and answer"
          value={parts.map(({ emitted, steps }) => perPass(emitted / Math.max(1, steps))).join(" · ")}
          testId="fold-parts"
        >
          <Parts parts={parts} />
        </Fold>
      )}
      <Fold name="Where the time went" value={seconds(stats.decode_seconds)} testId="fold-time">
        <TimeStrip stats={stats} />
      </Fold>
      <Fold name="The prompt" value={`${count(stats.prompt_tokens)} tokens`} testId="fold-prompt">
        <dl className="facts numbers">
          <Fact name="Remembered">{count(stats.cached_tokens)} tokens</Fact>
          <Fact name="Read anew">{count(fresh)} tokens</Fact>
          {seen !== null && <Fact name="Pictures">{seen}</Fact>}
          <Fact name="Context at the end">{count(stats.prompt_tokens + stats.emitted)} tokens</Fact>
        </dl>
        {unseen !== null && <p className="popover-note">{unseen}.</p>}
      </Fold>
      <Fold name="Memory" value={bytes(stats.peak_memory_bytes)} testId="fold-memory">
        <p className="popover-note">
          The most that the engine held since this reply, or one written beside it, was begun: the model, its
          chats, and what was computed in passing.
        </p>
        {stats.chat_bytes > 0 && (
          <dl className="facts numbers">
            <Fact name="For this chat">about {bytes(stats.chat_bytes)}</Fact>
          </dl>
        )}
      </Fold>
      <Fold
        name="Settings of this reply"
        // A reply of an older version does not know them.
        value={stats.version && drawing}
        testId="fold-settings"
      >
        <dl className="facts numbers">
          {stats.version && <Fact name="Sampling">{samplingLabel(stats.sampling)}</Fact>}
          <Fact name="Seed">{String(stats.seed)}</Fact>
          {stats.exact && <Fact name="With this seed again">{AGAIN[stats.exact]}</Fact>}
          {model && <Fact name="Model">{model}</Fact>}
          {stats.version && <Fact name="Build">Foretoken {stats.version}</Fact>}
        </dl>
      </Fold>
    </div>
  );
}

/** What the seed of a reply brings back, with guesses or without. */
const AGAIN: Record<Exactness, string> = {
  bitwise: "the same words, where the prompt is read alike",
  distribution: "words as likely, perhaps others",
};

/** How the words of a reply were chosen, as the control below the message says it. */
function useDrawing({ sampling }: ReplyStats, model: string | null): string {
  const loaded = useModel();
  const own = useModelName() === model && loaded !== null && drawsAlike(sampling, loaded.defaults);
  if (own) return "Standard";
  return isGreedy(sampling) ? "Greedy" : "Sampled";
}

interface CompareProps {
  question: Message;
  className: string;
  testId: string;
  children: string;
}

/** Answers the question of a reply once more without guesses and with them. */
function Compare({ question, className, testId, children }: CompareProps) {
  return (
    <ActionButton
      className={className}
      data-testid={testId}
      reason={useCompareReason()}
      onClick={() => compareMessage(question.id, question.text)}
    >
      {children}
    </ActionButton>
  );
}

/** Marks text that came from drafts, here and in all replies. */
function RevealSwitch() {
  const revealed = useStore((state) => state.revealDrafts);
  return (
    <div className="reveal">
      <button
        type="button"
        role="switch"
        className="switch-row"
        data-testid="reveal-drafts"
        aria-checked={revealed}
        onClick={toggleRevealDrafts}
        {...explained(WHAT_DRAFTS_ARE)}
      >
        <span>Show guesses in the text</span>
        <kbd className="keys">{keysLabel("reveal_drafts")}</kbd>
        <span className="switch" aria-hidden="true" />
      </button>
      {revealed && (
        <ul className="reveal-key" aria-label="Words that were guessed">
          {["1 ahead", "2 ahead", "3 or more ahead"].map((name, index) => (
            <li key={name}>
              <span className={`draft-${index + 1}`}>{name}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
