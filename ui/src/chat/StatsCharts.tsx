import type { DepthTrace, PositionStats, ReplyStats } from "../bridge/bindings";
import { t } from "../language/text";
import { commas, count, percent, perPass, seconds } from "../primitives/format";

/** More positions than the MTP head is asked for: a block of a draft model. They stand closer. */
const MANY = 8;

/** Drafts by position: the track is what was drafted, the filled part what was accepted. */
export function Positions({ positions }: { positions: PositionStats[] }) {
  const most = Math.max(0, ...positions.map((position) => position.drafted));
  if (most === 0) return null;
  return (
    <ol className={positions.length > MANY ? "positions many" : "positions"}>
      {positions.map(({ drafted, accepted }, index) => {
        const place = index + 1;
        const share = drafted === 0 ? 0 : accepted / drafted;
        return (
          <li key={place} data-testid={`position-${place}`}>
            <span className="position-name" aria-hidden="true">
              {t("reply-ahead", { place })}
            </span>
            <span
              className="bar"
              role="img"
              aria-label={t("reply-position", { place, accepted, drafted, share: Math.round(share * 100) })}
            >
              <span className="bar-drafted" style={{ width: `${(100 * drafted) / most}%` }}>
                <span className="bar-accepted" style={{ width: `${100 * share}%` }} />
              </span>
            </span>
            <span className="numbers position-numbers">
              {t("reply-position.count", { accepted, drafted })} · {percent(share)}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** The height of the line's drawing, in its own units for one draft. */
const STEP = 10;

/** How many drafts the passes had as the reply went on. */
export function DepthLine({ depth, steps }: { depth: DepthTrace; steps: number }) {
  const { depths } = depth;
  const most = Math.max(0, ...depths);
  if (most === 0 || depths.length < 2) return null;
  const top = Math.ceil(most);
  const high = (value: number) => (top - value) * STEP;
  const points = depths.map((value, index) => `${index ? "V" : `M0 `}${high(value)}H${index + 1}`).join("");
  const [first, last] = [depths[0] ?? 0, depths.at(-1) ?? 0];
  const ends = { first: perPass(first), last: perPass(last) };
  const range = { least: perPass(Math.min(...depths)), most: perPass(most) };
  return (
    <section className="chart">
      <p className="chart-head">
        <span>{t("reply-depth")}</span>
        <span className="numbers soft">
          {range.least === range.most ? ends.first : t("reply-depth.range", ends)}
        </span>
      </p>
      <svg
        className="depth-line"
        data-testid="depth-line"
        role="img"
        aria-label={t("reply-depth.words", { steps, ...ends, ...range })}
        viewBox={`0 ${-STEP / 10} ${depths.length} ${top * STEP + STEP / 5}`}
        preserveAspectRatio="none"
      >
        <path className="depth-base" d={`M0 ${top * STEP}H${depths.length}`} />
        <path d={points} />
      </svg>
    </section>
  );
}

/** What one part of a reply took. */
interface PartNumbers {
  name: string;
  emitted: number;
  steps: number;
  drafted: number;
  accepted: number;
}

/** How many guesses a reply had at all places, and how many of them stood. */
export const guessed = ({ positions }: ReplyStats): PositionStats =>
  positions.reduce(
    (all, { drafted, accepted }) => ({
      drafted: all.drafted + drafted,
      accepted: all.accepted + accepted,
    }),
    { drafted: 0, accepted: 0 },
  );

/** Tokens a second of thinking and answer; null unless there are both, and where a reply waited for others. */
export function partSpeeds(stats: ReplyStats): { thinking: number; answer: number } | null {
  const { thinking, decode_seconds: all, shared_steps: shared } = stats;
  const apart = thinkingAndAnswer(stats) !== null && shared === 0;
  if (!apart || thinking.seconds <= 0 || thinking.seconds >= all) return null;
  return {
    thinking: thinking.emitted / thinking.seconds,
    answer: (stats.emitted - thinking.emitted) / (all - thinking.seconds),
  };
}

/** What thinking and answer took, apart: one is often easier to guess than the other. Null unless there are both. */
export function thinkingAndAnswer(stats: ReplyStats): PartNumbers[] | null {
  const { thinking } = stats;
  if (thinking.steps === 0 || thinking.steps === stats.steps) return null;
  const { drafted, accepted } = guessed(stats);
  const answer = {
    emitted: stats.emitted - thinking.emitted,
    steps: stats.steps - thinking.steps,
    drafted: drafted - thinking.drafted,
    accepted: accepted - thinking.accepted,
  };
  return [
    { name: t("reply-parts-thinking"), ...thinking },
    { name: t("reply-parts-answer"), ...answer },
  ];
}

/** The same as a table. */
export function Parts({ parts }: { parts: PartNumbers[] }) {
  return (
    <table className="parts numbers" data-testid="parts">
      <thead>
        <tr>
          <td />
          <th scope="col">{t("reply-parts-tokens")}</th>
          <th scope="col">{t("reply-parts-passes")}</th>
          <th scope="col">{t("reply-parts-per-pass")}</th>
          <th scope="col">{t("reply-parts-accepted")}</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ name, emitted, steps, drafted, accepted }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{count(emitted)}</td>
            <td>{count(steps)}</td>
            <td>{perPass(emitted / Math.max(1, steps))}</td>
            <td>{drafted === 0 ? t("reply-parts-accepted.none") : percent(accepted / drafted)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where the time of decoding went. */
export function TimeStrip({ stats }: { stats: ReplyStats }) {
  const known = stats.draft_seconds + stats.verify_seconds + stats.sample_seconds;
  const total = Math.max(stats.decode_seconds, known + stats.host_seconds);
  if (total <= 0) return null;
  const parts = [
    { kind: "draft", name: t("reply-time.draft"), value: stats.draft_seconds },
    { kind: "verify", name: t("reply-time.verify"), value: stats.verify_seconds },
    { kind: "sample", name: t("reply-time.sample"), value: stats.sample_seconds },
    { kind: "other", name: t("reply-time.other"), value: total - known },
  ].filter((part) => part.value > 0);
  const words = commas(parts.map(({ name, value }) => `${name} ${seconds(value)}`));
  return (
    <section className="chart">
      <div className="strip" role="img" aria-label={t("reply-time", { time: seconds(total), parts: words })}>
        {parts.map(({ kind, value }) => (
          <span key={kind} className={`part-${kind}`} style={{ width: `${(100 * value) / total}%` }} />
        ))}
      </div>
      <ul className="strip-legend numbers" aria-hidden="true">
        {parts.map(({ kind, name, value }) => (
          <li key={kind}>
            <span className={`swatch part-${kind}`} />
            {name} {seconds(value)}
          </li>
        ))}
      </ul>
    </section>
  );
}
