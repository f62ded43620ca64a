import { useEffect, useRef } from "react";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { draftingName, draftingNoteLabel, whoDrafted } from "../primitives/format";
import { useStore } from "../state/store";
import { cancelComparison, compare } from "./actions";
import { compareReason, comparisonRatio, progressLabel, ratioSentence, verdictSentence } from "./labels";
import { Replay } from "./Replay";
import { setBenchmarks, useBenchmarks } from "./store";

/** Why nothing can be compared now; null if it can. */
export function useCompareReason(): string | null {
  const comparing = useBenchmarks((state) => state.sideBySide.stage === "running");
  return useStore(({ alone, engine, settings, live }) =>
    alone !== null
      ? t("benchmarks-refused.window")
      : compareReason(engine, settings.drafting, Object.keys(live).length > 0, comparing),
  );
}

/** One question answered without drafts and with them, shown on one clock. */
export function SideBySide() {
  const running = useBenchmarks(({ sideBySide }) => sideBySide.stage === "running");
  const stopping = useBenchmarks(({ sideBySide }) => sideBySide.stage === "running" && sideBySide.stopping);
  const prompt = useBenchmarks((state) => state.prompt) ?? t("benchmarks-compare.owl");
  const spotlight = useBenchmarks((state) => state.spotlight);
  const reason = useCompareReason();
  const part = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!spotlight) return;
    part.current?.scrollIntoView();
    part.current?.focus({ preventScroll: true });
    setBenchmarks({ spotlight: false });
  }, [spotlight]);
  const missing = prompt.trim() === "" ? t("benchmarks-compare.nothing") : null;
  return (
    <section
      ref={part}
      className="part"
      tabIndex={-1}
      aria-label={t("benchmarks-compare.title")}
      data-testid="side-by-side"
    >
      <header className="part-head">
        <h2>{t("benchmarks-compare.title")}</h2>
      </header>
      <p className="part-note">{t("benchmarks-compare.note")}</p>
      <form
        className="compare-form"
        onSubmit={(event) => {
          event.preventDefault();
          if ((reason ?? missing) === null) compare({ source: "prompt", text: prompt }, prompt);
        }}
      >
        <input
          value={prompt}
          aria-label={t("benchmarks-compare.question")}
          data-testid="compare-prompt"
          onChange={(event) => setBenchmarks({ prompt: event.target.value })}
        />
        {running ? (
          <button
            type="button"
            className="button"
            data-testid="compare-cancel"
            aria-disabled={stopping || undefined}
            onClick={cancelComparison}
          >
            {t("benchmarks-compare.cancel")}
          </button>
        ) : (
          <ActionButton
            type="submit"
            className="button primary"
            data-testid="compare-run"
            reason={reason ?? missing}
          >
            {t("benchmarks-compare.run")}
          </ActionButton>
        )}
      </form>
      {reason !== null && !running && <p className="part-note">{reason}</p>}
      <Outcome />
    </section>
  );
}

function Outcome() {
  const sideBySide = useBenchmarks((state) => state.sideBySide);
  switch (sideBySide.stage) {
    case "none":
      return null;
    case "running": {
      const { progress, question } = sideBySide;
      const reading = progress?.stage === "reading" ? progress.done / Math.max(progress.total, 1) : undefined;
      return (
        <div className="compare-running" data-testid="compare-running">
          <p className="compare-question">{question}</p>
          <progress value={reading} aria-label={t("benchmarks-compare.progress")} />
          <p className="part-note numbers">{progressLabel(progress)}</p>
        </div>
      );
    }
    case "failed":
      return (
        <>
          <p className="compare-question">{sideBySide.question}</p>
          <ErrorNote error={sideBySide.error} testId="compare-error" />
        </>
      );
    case "done": {
      const { comparison } = sideBySide;
      const { question, drafting, drafted, sampling, model } = comparison;
      const facts = [
        model,
        t("benchmarks-compared.drafts", { drafts: draftingName(drafting) }),
        t("benchmarks-compared.seed", { seed: `${sampling.seed}` }),
        t("benchmarks-compared.once"),
        whoDrafted(drafted.stats),
      ];
      return (
        <div data-testid="comparison">
          <p className="compare-question">{question}</p>
          <p className="result-sentence" role="status" data-testid="compare-ratio">
            {ratioSentence(comparison)}
          </p>
          <p
            className={comparison.verdict.verdict === "different" ? "verdict-line bad" : "verdict-line"}
            data-testid="compare-verdict"
          >
            {verdictSentence(comparison)}
          </p>
          <Replay key={`${sampling.seed}-${comparisonRatio(comparison)}`} comparison={comparison} />
          {drafted.stats.drafting_note && (
            <p className="part-note">{draftingNoteLabel(drafted.stats.drafting_note)}</p>
          )}
          <p className="part-note numbers">
            {t("benchmarks-compared.facts", { facts: facts.filter(Boolean).join(" · ") })}
          </p>
        </div>
      );
    }
  }
}
