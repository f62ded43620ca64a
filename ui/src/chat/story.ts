import type { ReplyStats } from "../bridge/bindings";
import { acceptance, doNotPay, perPass, rate, speedUp } from "../primitives/format";
import { HERE } from "../primitives/platform";

/** What can be done about how a reply was made. */
type Remedy = "use auto" | "compare" | null;

/** Fewer words in a pass are as good as one. */
const SAVING = 1.05;

/** What guessing did for a reply: one sentence, what is behind it, and what can be done. */
export function speedStory(stats: ReplyStats): { sentence: string; why: string; remedy: Remedy } {
  const note = stats.drafting_note ?? "";
  const gained = speedUp(stats);
  const words = perPass(stats.tokens_per_pass);
  if (acceptance(stats) === null) {
    const sentence = doNotPay(stats.drafting_note)
      ? "No guesses: they do not pay here."
      : "Written one word per pass.";
    return {
      sentence,
      why: note || "Nothing was guessed ahead, so each pass wrote one word (token).",
      remedy: null,
    };
  }
  if (gained === null && stats.tokens_per_pass < SAVING)
    return {
      sentence: "Guessing saved almost no passes here.",
      why: note || "Nearly all of the guesses were wrong, so each pass wrote about one word (token).",
      remedy: "use auto",
    };
  const passes = `Each pass of the model wrote ${words} words (tokens) instead of one: its own, and the guesses that were right.`;
  if (gained === null || stats.plain === null)
    return {
      sentence: `Each pass wrote ${words} words (tokens).`,
      why: `Plain decoding writes one. What that gains is not measured on ${HERE} for replies like this one.`,
      remedy: "compare",
    };
  const source = { tune: "when the model was measured", replies: "in replies without guesses" };
  const measured = `Plain decoding wrote ${rate(stats.plain.tokens_per_second)} tok/s on ${HERE} ${source[stats.plain.source]}.`;
  if (gained >= 1.05)
    return {
      sentence: `${perPass(gained)} times as fast as without guessing.`,
      why: `${passes} ${measured}`,
      remedy: null,
    };
  const cost = `Each pass wrote ${words} words (tokens), but took longer: its guesses had to be made and checked. ${measured}`;
  if (gained >= 0.95) return { sentence: "Guessing made no difference here.", why: cost, remedy: null };
  return {
    sentence: `Guessing cost time here: ${perPass(gained)} times plain.`,
    why: cost,
    remedy: "use auto",
  };
}
