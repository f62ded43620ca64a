import { type CSSProperties, useId, useState } from "react";
import type { Evidence } from "../bridge/bindings";
import { t } from "../language/text";
import { Fact } from "../primitives/Fact";
import { Icon } from "../primitives/icons";
import {
  CLOSENESS,
  closenessLabel,
  closenessName,
  evidenceSentence,
  evidenceTable,
  kl,
  placeOf,
} from "./quality";

/** How close a converted model is to its original: a sentence, a picture, and a table for whoever wants it. */
export function EvidencePart({ evidence }: { evidence: Evidence }) {
  const [open, setOpen] = useState(false);
  const tableId = useId();
  return (
    <section className="evidence" aria-label={t("model-quality")} data-testid="evidence">
      <h3>{t("model-quality")}</h3>
      <p className="sheet-words numbers">{evidenceSentence(evidence)}</p>
      <Closeness nats={evidence.kl} />
      <button
        type="button"
        className="disclosure"
        aria-expanded={open}
        aria-controls={tableId}
        data-testid="evidence-toggle"
        onClick={() => setOpen(!open)}
      >
        <Icon name="right" />
        {t("model-all-figures")}
      </button>
      {open && (
        <dl id={tableId} className="facts numbers evidence-table" data-testid="evidence-table">
          {evidenceTable(evidence).map(([name, words]) => (
            <Fact key={name} name={name}>
              {words}
            </Fact>
          ))}
        </dl>
      )}
    </section>
  );
}

/** A model beside what counts as small, balanced and close, on a logarithmic scale. */
function Closeness({ nats }: { nats: number }) {
  const place = (share: number) => ({ "--at": share }) as CSSProperties;
  const name = closenessName(nats) ?? t("model-closeness-none");
  return (
    <div
      className="closeness"
      role="img"
      aria-label={t("model-closeness", { kl: kl(nats), name })}
      data-testid="closeness"
    >
      {CLOSENESS.map(({ key, kl: most }) => (
        <span key={key} className={`closeness-zone ${key}`} style={place(placeOf(most))}>
          {closenessLabel(key)}
        </span>
      ))}
      <span className="closeness-dot" style={place(placeOf(nats))} />
    </div>
  );
}
