import type { DepthTrace, PositionStats, ReplyStats } from "../bridge/bindings";
import { count, percent, perPass, seconds } from "../primitives/format";

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
              {`${place} ahead`}
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
  const constant = perPass(Math.min(...depths)) === perPass(most);
  return (
    <section className="chart">
      <p className="chart-head">
        <span>Drafts per pass over time</span>
        <span className="numbers soft">
          {constant ? perPass(first) : `${perPass(first)} to ${perPass(last)}`}
        </span>
      </p>
      <svg
        className="depth-line"
        data-testid="depth-line"
        role="img"
        aria-label={`Drafts per pass over ${count(steps)} passes: ${perPass(first)} at the beginning, ${perPass(last)} at the end, between ${perPass(Math.min(...depths))} and ${perPass(most)}.`}
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
    { name: "Thinking", ...thinking },
    { name: "Answer", ...answer },
  ];
}

/** The same as a table. */
export function Parts({ parts }: { parts: PartNumbers[] }) {
  return (
    <table className="parts numbers" data-testid="parts">
      <thead>
        <tr>
          <td />
          <th scope="col">tokens</th>
          <th scope="col">passes</th>
          <th scope="col">per pass</th>
          <th scope="col">accepted</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ name, emitted, steps, drafted, accepted }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{count(emitted)}</td>
            <td>{count(steps)}</td>
            <td>{perPass(emitted / Math.max(1, steps))}</td>
            <td>{drafted === 0 ? "no drafts" : percent(accepted / drafted)}</td>
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
    { name: "draft", value: stats.draft_seconds },
    { name: "verify", value: stats.verify_seconds },
    { name: "sample", value: stats.sample_seconds },
    { name: "other", value: total - known },
  ].filter((part) => part.value > 0);
  const words = parts.map(({ name, value }) => `${name} ${seconds(value)}`).join(", ");
  return (
    <section className="chart">
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
    </section>
  );
}
