import type { ReplyStats } from "../bridge/bindings";
import { keysLabel } from "../palette/table";
import { CopyButton } from "../primitives/CopyButton";
import { Fact } from "../primitives/Fact";
import {
  bytes,
  count,
  explained,
  footerLabel,
  perPass,
  rate,
  samplingLabel,
  seconds,
  speedSentence,
  speedUp,
  times,
  WHAT_DRAFTS_ARE,
} from "../primitives/format";
import { PopoverButton } from "../primitives/PopoverButton";
import { HERE } from "../primitives/platform";
import { toggleRevealDrafts } from "../reveal/actions";
import { setView, useStore } from "../state/store";
import { DepthLine, Parts, Positions, TimeStrip } from "./StatsCharts";

interface Props {
  message: number;
  stats: ReplyStats;
  model: string | null;
}

/** The numbers of a reply, and all of them on a click. */
export function StatsPopover({ message, stats, model }: Props) {
  const open = useStore((state) => state.openStats === message);
  return (
    <PopoverButton
      label={footerLabel(stats)}
      title="How this reply was made"
      hint={`How this reply was made (${keysLabel("statistics")})`}
      testId="reply-footer"
      className="quiet-button numbers footer-numbers"
      popupClassName="stats"
      popupTestId="stats-popover"
      chevron={false}
      toRead
      open={open}
      onOpenChange={(open) => setView({ openStats: open ? message : null })}
    >
      <Numbers stats={stats} model={model} />
    </PopoverButton>
  );
}

/** How a reply was made. */
export function Numbers({ stats, model }: Omit<Props, "message">) {
  const gained = speedUp(stats);
  return (
    <>
      <p className="stats-sentence">{speedSentence(stats)}</p>
      <div className="stats-heroes">
        <Hero number={perPass(stats.tokens_per_pass)} name="tokens per pass">
          {count(stats.emitted)} tokens in {count(stats.steps)} passes
        </Hero>
        {gained !== null && (
          <Hero number={times(gained)} name={`plain on ${HERE}`}>
            {rate(stats.tokens_per_second)} against {rate(stats.plain?.tokens_per_second ?? 0)} tok/s
          </Hero>
        )}
      </div>
      <Positions positions={stats.positions} />
      {stats.drafting_note && <p className="popover-note">{stats.drafting_note}</p>}
      <DepthLine depth={stats.depth} steps={stats.steps} />
      <Parts stats={stats} />
      <TimeStrip stats={stats} />
      <Facts stats={stats} model={model} />
      <RevealSwitch />
      <div className="popover-foot">
        <CopyButton text={JSON.stringify({ model, ...stats }, null, 2)} label="Copy as JSON" />
      </div>
    </>
  );
}

function Hero({ number, name, children }: { number: string; name: string; children: React.ReactNode }) {
  return (
    <div className="stats-hero">
      <span className="numbers hero-number">{number}</span>
      <span>
        {name}
        <br />
        <span className="soft numbers">{children}</span>
      </span>
    </div>
  );
}

function Facts({ stats, model }: Omit<Props, "message">) {
  const fresh = stats.prompt_tokens - stats.cached_tokens;
  return (
    <dl className="facts numbers">
      <Fact name="Speed">{rate(stats.tokens_per_second)} tokens/s</Fact>
      <Fact name="First token after">{seconds(stats.time_to_first_token_seconds)}</Fact>
      <Fact name="Prompt">
        {count(stats.prompt_tokens)} tokens: {count(stats.cached_tokens)} cached, {count(fresh)} new
      </Fact>
      <Fact name="Context at the end">{count(stats.prompt_tokens + stats.emitted)} tokens</Fact>
      <Fact name="Memory at most">{bytes(stats.peak_memory_bytes)}</Fact>
      {stats.looked_up.drafted > 0 && (
        <Fact name="Drafts from the text">
          {count(stats.looked_up.accepted)} of {count(stats.looked_up.drafted)} accepted
        </Fact>
      )}
      {stats.by_draft_model.drafted > 0 && (
        <Fact name="Drafts from DFlash">
          {count(stats.by_draft_model.accepted)} of {count(stats.by_draft_model.drafted)} accepted
        </Fact>
      )}
      {stats.shared_steps > 0 && (
        <Fact name="Beside other replies">
          {count(stats.shared_steps)} of {count(stats.steps)} passes
        </Fact>
      )}
      {/* A reply of an older version knows neither. */}
      {stats.version && <Fact name="Sampling">{samplingLabel(stats.sampling)}</Fact>}
      <Fact name="Seed">{String(stats.seed)}</Fact>
      {model && <Fact name="Model">{model}</Fact>}
      {stats.version && <Fact name="Build">Foretoken {stats.version}</Fact>}
    </dl>
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
        <span>Show drafts in the text</span>
        <kbd className="menu-keys">{keysLabel("reveal_drafts")}</kbd>
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
