import type { PositionStats, ReplyStats } from "../bindings";
import { bytes, count, finalSpeedLine, percent, perPass, rate, seconds, speedSentence } from "../format";
import { CopyButton } from "./CopyButton";
import { PopoverButton } from "./PopoverButton";

interface Props {
  stats: ReplyStats;
  model: string | null;
}

/** The numbers of a reply, and all of them on a click. */
export function StatsPopover({ stats, model }: Props) {
  return (
    <PopoverButton
      label={finalSpeedLine(stats)}
      title="How this reply was made"
      testId="reply-footer"
      className="quiet-button numbers footer-numbers"
      popupClassName="stats"
      popupTestId="stats-popover"
      chevron={false}
    >
      <p className="stats-sentence">{speedSentence(stats)}</p>
      <div className="stats-hero">
        <span className="numbers hero-number">{perPass(stats.tokens_per_pass)}</span>
        <span>
          tokens per pass
          <br />
          <span className="soft">
            {count(stats.emitted)} tokens in {count(stats.steps)} passes
          </span>
        </span>
      </div>
      <Positions positions={stats.positions} />
      {stats.drafting_note && <p className="popover-note">{stats.drafting_note}</p>}
      <TimeStrip stats={stats} />
      <dl className="facts numbers">
        <Fact name="Speed" value={`${rate(stats.tokens_per_second)} tokens/s`} />
        <Fact name="First token after" value={seconds(stats.time_to_first_token_seconds)} />
        <Fact
          name="Prompt"
          value={`${count(stats.prompt_tokens)} tokens: ${count(stats.cached_tokens)} cached, ${count(
            stats.prompt_tokens - stats.cached_tokens,
          )} new`}
        />
        <Fact name="Memory at most" value={bytes(stats.peak_memory_bytes)} />
        <Fact name="Seed" value={String(stats.seed)} />
        {model && <Fact name="Model" value={model} />}
      </dl>
      <div className="popover-foot">
        <CopyButton text={JSON.stringify({ model, ...stats }, null, 2)} label="Copy as JSON" />
      </div>
    </PopoverButton>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Drafts by position: the track is what was drafted, the filled part what was accepted. */
function Positions({ positions }: { positions: PositionStats[] }) {
  const most = Math.max(0, ...positions.map((position) => position.drafted));
  if (most === 0) return null;
  return (
    <ol className="positions">
      {positions.map(({ drafted, accepted }, index) => {
        const place = index + 1;
        const share = drafted === 0 ? 0 : accepted / drafted;
        return (
          <li key={place} data-testid={`position-${place}`}>
            <span className="position-name" aria-hidden="true">
              {place === 1 ? "1 ahead" : `${place} ahead`}
            </span>
            <span
              className="bar"
              role="img"
              aria-label={`Position ${place}: ${accepted} of ${drafted} drafts accepted, ${Math.round(share * 100)} percent.`}
            >
              <span className="bar-drafted" style={{ width: `${(100 * drafted) / most}%` }}>
                <span className="bar-accepted" style={{ width: `${100 * share}%` }} />
              </span>
            </span>
            <span className="numbers position-numbers">
              {count(accepted)} of {count(drafted)} · {percent(share)}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** Where the time of decoding went. */
function TimeStrip({ stats }: { stats: ReplyStats }) {
  const known = stats.draft_seconds + stats.verify_seconds + stats.host_seconds;
  const total = Math.max(stats.decode_seconds, known);
  if (total <= 0) return null;
  const parts = [
    { name: "draft", value: stats.draft_seconds },
    { name: "verify", value: stats.verify_seconds },
    { name: "host", value: stats.host_seconds },
    { name: "other", value: total - known },
  ].filter((part) => part.value > 0);
  const words = parts.map(({ name, value }) => `${name} ${seconds(value)}`).join(", ");
  return (
    <div className="time">
      <p className="time-head">
        <span>Decoding</span>
        <span className="numbers soft">{seconds(total)}</span>
      </p>
      <div className="strip" role="img" aria-label={`Decoding took ${seconds(total)}: ${words}.`}>
        {parts.map(({ name, value }) => (
          <span key={name} className={`part-${name}`} style={{ width: `${(100 * value) / total}%` }} />
        ))}
      </div>
      <ul className="strip-legend numbers" aria-hidden="true">
        {parts.map(({ name, value }) => (
          <li key={name}>
            <span className={`swatch part-${name}`} />
            {name} {seconds(value)}
          </li>
        ))}
      </ul>
    </div>
  );
}
