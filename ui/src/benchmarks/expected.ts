import type { Benchmark, BenchmarkPlan, LocalModel } from "../bridge/bindings";
import { t } from "../language/text";
import { verdict } from "./verdict";

/** What a plan comes to: runs that count, tokens of each kind of text, and of the long prompt. */
export const effort = ({ thorough }: BenchmarkPlan) =>
  thorough ? { runs: 5, tokens: 144, prompt: 2048 } : { runs: 3, tokens: 60, prompt: 512 };

/** A run that does not count comes first; it decodes behind one question of three. */
const WARM_UP = 1 / 3;
/** Tokens of a kind's questions, which are read for each way, about. */
const QUESTIONS = 300;

/** Plain; 1, 2 and 3 ahead; blocks of 3 and of 7; Auto and Look-up. */
function waysOf(plan: BenchmarkPlan, { mtp, draft_model }: LocalModel): number {
  if (!plan.drafts) return 1;
  return 1 + (mtp?.state === "present" ? 3 : 0) + (draft_model === null ? 0 : 2) + 2;
}

/** How long a plan takes with a model that was measured before, in seconds, about. */
export function expectedSeconds(plan: BenchmarkPlan, local: LocalModel, before: Benchmark): number | null {
  const known = verdict(before).ways.map(({ tokensPerSecond }) => tokensPerSecond.median);
  const speed = known.reduce((sum, one) => sum + one, 0) / known.length;
  if (!(speed > 0)) return null;
  const { runs, tokens, prompt } = effort(plan);
  const decodings = (runs + WARM_UP) * (plan.texts === "both" ? 2 : 1) * waysOf(plan, local);
  const reading = before.prefill_tokens_per_second?.median;
  const read = decodings * QUESTIONS + (plan.prompt ? (runs + 1) * prompt : 0);
  return (
    runs * before.load_seconds.median +
    (decodings * tokens) / speed +
    (reading === undefined || reading <= 0 ? 0 : read / reading)
  );
}

/** `about 3 minutes`. */
export const minutesLabel = (seconds: number): string =>
  t("benchmarks-minutes", { minutes: Math.round(seconds / 60) });
