import { useId, useState } from "react";
import type { ReplyStep } from "../bridge/bindings";
import { t } from "../language/text";
import { count } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { guessed, Parts } from "./StatsCharts";

/** The rounds of a reply that uses tools, and how well each was guessed. */
export function RoundsFold({ steps }: { steps: ReplyStep[] }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const parts = steps.flatMap(({ ordinal, stats }) =>
    stats === null
      ? []
      : [
          {
            name: t("call-rounds.one", { number: ordinal + 1 }),
            emitted: stats.emitted,
            steps: stats.steps,
            ...guessed(stats),
          },
        ],
  );
  return (
    <section className="fold">
      <button
        type="button"
        className="fold-head"
        aria-expanded={open}
        aria-controls={id}
        data-testid="rounds-fold"
        onClick={() => setOpen(!open)}
      >
        <Icon name="right" />
        <span className="fold-name">{t("call-rounds")}</span>
        <span className="fold-value numbers">{count(steps.length)}</span>
      </button>
      {open && (
        <div id={id} className="fold-body">
          <Parts parts={parts} />
        </div>
      )}
    </section>
  );
}
