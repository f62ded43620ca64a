import type { ReplyStats } from "../bridge/bindings";
import { t } from "../language/text";
import { acceptance, doNotPay, draftingNoteLabel, perPass, rate, speedUp } from "../primitives/format";

/** What can be done about how a reply was made. */
type Remedy = "auto" | "compare" | null;

/** Fewer words in a pass are as good as one. */
const SAVING = 1.05;

/** What guessing did for a reply: one sentence, what is behind it, and what can be done. */
export function speedStory(stats: ReplyStats): { sentence: string; why: string; remedy: Remedy } {
  const note = stats.drafting_note && draftingNoteLabel(stats.drafting_note);
  const gained = speedUp(stats);
  const words = perPass(stats.tokens_per_pass);
  if (acceptance(stats) === null)
    return {
      sentence: t(doNotPay(stats.drafting_note) ? "chat-story-plain.unpaid" : "chat-story-plain"),
      why: note ?? t("chat-story-plain.why"),
      remedy: null,
    };
  if (gained === null && stats.tokens_per_pass < SAVING)
    return {
      sentence: t("chat-story-wasted"),
      why: note ?? t("chat-story-wasted.why"),
      remedy: "auto",
    };
  if (gained === null || stats.plain === null)
    return {
      sentence: t("chat-story-unmeasured", { words }),
      why: t("chat-story-unmeasured.why"),
      remedy: "compare",
    };
  const { source, tokens_per_second } = stats.plain;
  const measured = t("chat-story-measured", { rate: rate(tokens_per_second), source });
  const times = perPass(gained);
  if (gained >= 1.05)
    return {
      sentence: t("chat-story-gain", { times }),
      why: t("chat-story-gain.why", { words, measured }),
      remedy: null,
    };
  const why = t("chat-story-loss.why", { words, measured });
  if (gained >= 0.95) return { sentence: t("chat-story-loss.none"), why, remedy: null };
  return { sentence: t("chat-story-loss", { times }), why, remedy: "auto" };
}
