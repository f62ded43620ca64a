import type { ReplyStats } from "../bridge/bindings";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { commas, inLanguage, perPass } from "../primitives/format";

/** What one place of the average pass yields: `made` guesses in a pass, of which `stood` were right; at most 1 each. */
interface Place {
  made: number;
  stood: number;
  /** `stood`, in hundredths, so rounded that all places add up to the tokens of a pass. */
  hundredths: number;
}

/** The average pass: its own word, then a place for each guess. */
export function places({ positions, steps }: Pick<ReplyStats, "positions" | "steps">): Place[] {
  const shares = [
    { made: 1, stood: 1 },
    ...positions.map(({ drafted, accepted }) => ({ made: drafted / steps, stood: accepted / steps })),
  ];
  const rounded = roundedTogether(shares.map(({ stood }) => 100 * stood));
  return shares.map((share, index) => ({ ...share, hundredths: rounded[index] as number }));
}

/** Whole numbers near `values`, whose sum is their sum: the largest remainders are rounded up. */
function roundedTogether(values: number[]): number[] {
  const whole = values.map(Math.floor);
  const left =
    Math.round(values.reduce((sum, value) => sum + value, 0)) - whole.reduce((sum, value) => sum + value, 0);
  const up = values
    .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
    .sort((a, b) => b.remainder - a.remainder)
    .slice(0, left);
  for (const { index } of up) whole[index] = (whole[index] as number) + 1;
  return whole;
}

/** More guesses than have their figures below them each, and more than have room for words. */
const [MANY, SHORT] = [4, 2];

const HUNDREDTHS = inLanguage(
  (of) => new Intl.NumberFormat(of, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
);
const figure = (hundredths: number): string => HUNDREDTHS().format(hundredths / 100);

const line = (words: string) => (
  <>
    <br />
    {words}
  </>
);

/** What an average pass of the model wrote, as columns that add up to the tokens of a pass. */
export function PassPicture({ stats }: { stats: ReplyStats }) {
  const all = places(stats);
  const guesses = all.length - 1;
  if (guesses === 0 || stats.steps === 0) return null;
  const many = guesses > MANY;
  const name = (place: number) =>
    place === 0 ? t("chat-pass.own") : t(guesses > SHORT ? "chat-pass.place" : "chat-pass.guess", { place });
  const parts = all
    .slice(1)
    .map(({ hundredths }, index) => t("chat-pass.part", { figure: figure(hundredths), place: index + 1 }));
  return (
    <figure className="pass" data-testid="pass-picture">
      <div
        className={many ? "pass-columns many" : "pass-columns"}
        role="img"
        aria-label={t("chat-pass", { guesses: commas(parts), all: perPass(stats.tokens_per_pass) })}
      >
        {all.map(({ made, stood, hundredths }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
          <div key={place} className={place === 0 ? "pass-column own" : "pass-column"}>
            <span className="pass-bar">
              <span className="pass-made" style={{ height: `${100 * made}%` }}>
                <span
                  className={`pass-stood word-${Math.min(place, 3)}`}
                  style={{ height: made === 0 ? 0 : `${(100 * stood) / made}%` }}
                />
              </span>
            </span>
            {!many && (
              <span className="pass-figure numbers">
                <strong>{figure(hundredths)}</strong>
                {name(place)}
              </span>
            )}
          </div>
        ))}
        <div className="pass-sum numbers">
          <strong>= {perPass(stats.tokens_per_pass)}</strong>
          <span className="pass-figure">
            <RichText id="chat-pass.unit" parts={{ line }} />
          </span>
        </div>
      </div>
      {many && (
        <p className="pass-figures numbers" aria-hidden="true">
          {[0, 1, Math.ceil(guesses / 2), guesses].map((place) => (
            <span key={place}>
              <strong>{figure(all[place]?.hundredths ?? 0)}</strong> {name(place)}
            </span>
          ))}
        </p>
      )}
      <figcaption>{t("chat-pass.caption")}</figcaption>
    </figure>
  );
}
