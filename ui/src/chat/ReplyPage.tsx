import { compareMessage } from "../benchmarks/actions";
import { useCompareReason } from "../benchmarks/SideBySide";
import type { Exactness, Message, ReplyStats, ReplyStep } from "../bridge/bindings";
import { Fold } from "../frame/Fold";
import { t } from "../language/text";
import { keysLabel } from "../palette/table";
import { ActionButton } from "../primitives/ActionButton";
import { CopyButton } from "../primitives/CopyButton";
import { Fact } from "../primitives/Fact";
import {
  bytes,
  count,
  draftingNoteLabel,
  explained,
  isGreedy,
  percent,
  perPass,
  rate,
  samplingLabel,
  seconds,
  whatDraftsAre,
} from "../primitives/format";
import { toggleRevealDrafts } from "../reveal/actions";
import { useModel, useModelName, useStore } from "../state/store";
import { PassPicture } from "./PassPicture";
import { seenLabel, unseenLabel } from "./pictures";
import { RoundsFold } from "./RoundsFold";
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
import { comparable } from "./view";

/** How a reply was made: what guessing did for it, the picture of its average pass, and the rest folded. */
export function ReplyPage({ message, question }: { message: Message; question: Message | null }) {
  const { model, steps } = message;
  if (!message.stats) return null;
  const stats = comparable(message, message.stats);
  const inRounds = steps.length > 0;
  return (
    <>
      <Story stats={stats} question={question} inRounds={inRounds} />
      <PassPicture stats={stats} />
      <RevealSwitch />
      <Folds stats={stats} model={model} steps={steps} />
      <div className="panel-foot">
        {question && !inRounds && (
          <Compare question={question} className="quiet-button" testId="compare-reply">
            {t("reply-page-compare")}
          </Compare>
        )}
        <CopyButton text={JSON.stringify({ model, ...stats }, null, 2)} label={t("reply-page-copy")} />
      </div>
    </>
  );
}

interface StoryProps {
  stats: ReplyStats;
  question: Message | null;
  inRounds: boolean;
}

function Story({ stats, question, inRounds }: StoryProps) {
  const story = speedStory(stats);
  const { sentence } = story;
  // Once more without guesses, the model may call something else: nothing would be compared.
  const apart = inRounds && story.remedy === "compare";
  const why = apart ? t("call-rounds.why") : story.why;
  const remedy = apart ? null : story.remedy;
  return (
    <div className="story">
      <p className="story-sentence" data-testid="story">
        {sentence}
      </p>
      <p className="story-why">{why}</p>
      {remedy === "auto" && (
        <button
          type="button"
          className="button"
          data-testid="use-auto"
          onClick={() => changeSettings({ drafting: { mode: "auto" } })}
        >
          {t("reply-page-auto")}
        </button>
      )}
      {remedy === "compare" && question && (
        <Compare question={question} className="button" testId="measure-gain">
          {t("reply-page-measure")}
        </Compare>
      )}
    </div>
  );
}

const pace = (tokensPerSecond: number): string => `${rate(tokensPerSecond)} tok/s`;

const tokens = (count: number): string => t("reply-page-prompt.tokens", { tokens: count });

interface FoldsProps {
  stats: ReplyStats;
  model: string | null;
  /** The rounds of a reply that uses tools. */
  steps?: ReplyStep[];
}

/** Everything else that is known of a reply, a line each. */
export function Folds({ stats, model, steps = [] }: FoldsProps) {
  const fresh = stats.prompt_tokens - stats.cached_tokens;
  const guesses = guessed(stats);
  const parts = thinkingAndAnswer(stats);
  const speeds = partSpeeds(stats);
  const drawing = useDrawing(stats, model);
  const seen = seenLabel(stats);
  const unseen = unseenLabel(stats);
  return (
    <div className="folds">
      {steps.length > 0 && <RoundsFold steps={steps} />}
      <Fold name={t("reply-page-speed")} value={pace(stats.tokens_per_second)} testId="fold-speed">
        <dl className="facts numbers">
          <Fact name={t("reply-page-speed.tokens")}>{count(stats.emitted)}</Fact>
          <Fact name={t("reply-page-speed.passes")}>{count(stats.steps)}</Fact>
          <Fact name={t("reply-page-speed.first")}>{seconds(stats.time_to_first_token_seconds)}</Fact>
          {speeds && <Fact name={t("reply-page-speed.thinking")}>{pace(speeds.thinking)}</Fact>}
          {speeds && <Fact name={t("reply-page-speed.answer")}>{pace(speeds.answer)}</Fact>}
          {stats.plain && (
            <Fact name={t("reply-page-speed.plain")}>{pace(stats.plain.tokens_per_second)}</Fact>
          )}
          {stats.shared_steps > 0 && (
            <Fact name={t("reply-page-speed.beside")}>
              {t("reply-page-speed.beside-passes", { shared: stats.shared_steps, steps: stats.steps })}
            </Fact>
          )}
        </dl>
        <DepthLine depth={stats.depth} steps={stats.steps} />
      </Fold>
      {guesses.drafted > 0 && (
        <Fold
          name={t("reply-page-guesses")}
          value={t("reply-page-guesses.share", { share: percent(guesses.accepted / guesses.drafted) })}
          testId="fold-guesses"
          hint={whatDraftsAre()}
        >
          <Positions positions={stats.positions} />
          <dl className="facts numbers">
            {stats.by_draft_model.drafted > 0 && (
              <Fact name={t("reply-page-guesses.draft-model")}>
                {t("reply-page-guesses.accepted", { ...stats.by_draft_model })}
              </Fact>
            )}
            {stats.looked_up.drafted > 0 && (
              <Fact name={t("reply-page-guesses.text")}>
                {t("reply-page-guesses.accepted", { ...stats.looked_up })}
              </Fact>
            )}
          </dl>
          {stats.drafting_note && <p className="popover-note">{draftingNoteLabel(stats.drafting_note)}</p>}
        </Fold>
      )}
      {parts && (
        <Fold
          name={t("reply-page-parts")}
          value={parts.map(({ emitted, steps }) => perPass(emitted / Math.max(1, steps))).join(" · ")}
          testId="fold-parts"
        >
          <Parts parts={parts} />
        </Fold>
      )}
      <Fold name={t("reply-page-time")} value={seconds(stats.decode_seconds)} testId="fold-time">
        <TimeStrip stats={stats} />
      </Fold>
      <Fold name={t("reply-page-prompt")} value={tokens(stats.prompt_tokens)} testId="fold-prompt">
        <dl className="facts numbers">
          <Fact name={t("reply-page-prompt.cached")}>{tokens(stats.cached_tokens)}</Fact>
          <Fact name={t("reply-page-prompt.fresh")}>{tokens(fresh)}</Fact>
          {seen !== null && <Fact name={t("reply-page-prompt.pictures")}>{seen}</Fact>}
          <Fact name={t("reply-page-prompt.context")}>{tokens(stats.prompt_tokens + stats.emitted)}</Fact>
        </dl>
        {unseen !== null && <p className="popover-note">{t("reply-page-prompt.unseen", { unseen })}</p>}
      </Fold>
      <Fold name={t("reply-page-memory")} value={bytes(stats.peak_memory_bytes)} testId="fold-memory">
        <p className="popover-note">{t("reply-page-memory.most")}</p>
        {stats.chat_bytes > 0 && (
          <dl className="facts numbers">
            <Fact name={t("reply-page-memory.chat")}>
              {t("reply-page-memory.about", { bytes: bytes(stats.chat_bytes) })}
            </Fact>
          </dl>
        )}
      </Fold>
      <Fold
        name={t("reply-page-settings")}
        // A reply of an older version does not know them.
        value={stats.version && drawing}
        testId="fold-settings"
      >
        <dl className="facts numbers">
          {stats.version && (
            <Fact name={t("reply-page-settings.sampling")}>{samplingLabel(stats.sampling)}</Fact>
          )}
          <Fact name={t("reply-page-settings.seed")}>{String(stats.seed)}</Fact>
          {stats.exact && <Fact name={t("reply-page-settings.again")}>{again(stats.exact)}</Fact>}
          {model && <Fact name={t("reply-page-settings.model")}>{model}</Fact>}
          {stats.version && <Fact name={t("reply-page-settings.build")}>Foretoken {stats.version}</Fact>}
        </dl>
      </Fold>
    </div>
  );
}

/** What the seed of a reply brings back, with guesses or without. */
const again = (exact: Exactness): string =>
  t(exact === "bitwise" ? "reply-page-settings.again-same" : "reply-page-settings.again-alike");

/** How the words of a reply were chosen, as the control below the message says it. */
function useDrawing({ sampling }: ReplyStats, model: string | null): string {
  const loaded = useModel();
  const own = useModelName() === model && loaded !== null && drawsAlike(sampling, loaded.defaults);
  if (own) return t("reply-label");
  return t(isGreedy(sampling) ? "reply-label.greedy" : "reply-label.sampled");
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
        {...explained(whatDraftsAre())}
      >
        <span>{t("reply-page-reveal")}</span>
        <kbd className="keys">{keysLabel("reveal_drafts")}</kbd>
        <span className="switch" aria-hidden="true" />
      </button>
      {revealed && (
        <ul className="reveal-key" aria-label={t("reply-page-reveal.key")}>
          {[1, 2, 3].map((place) => (
            <li key={place}>
              <span className={`draft-${place}`}>
                {place < 3 ? t("reply-ahead", { place }) : t("reply-ahead.more", { place })}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
