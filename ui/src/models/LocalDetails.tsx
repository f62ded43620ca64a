import type { LocalModel } from "../bridge/bindings";
import { t } from "../language/text";
import { OutlookPart } from "../macs/OutlookPart";
import { ActionButton } from "../primitives/ActionButton";
import { Fact } from "../primitives/Fact";
import { bytes, parameters } from "../primitives/format";
import { Sheet } from "../primitives/Sheet";
import { useStore } from "../state/store";
import { compareWithOriginal, reveal } from "./actions";
import { EvidencePart } from "./EvidencePart";
import { isOpen } from "./jobs";
import { fitSentence, mtpBadge, tuningLabel, usedLabel, verdictLabel } from "./labels";

interface Props {
  model: LocalModel;
  open: boolean;
  onClose: () => void;
}

/** Leads to how close a model is to its original, which nobody has measured, where that is here. */
function Unmeasured({
  model: { path, original: folder },
  onLeave,
}: {
  model: LocalModel;
  onLeave: () => void;
}) {
  const original = useStore((state) => state.library?.models.find((other) => other.path === folder));
  const running = useStore((state) =>
    state.library?.jobs.some((job) => job.kind === "comparison" && job.model === path && isOpen(job)),
  );
  if (!original) return null;
  const compare = () => {
    onLeave();
    compareWithOriginal(path, original.path);
  };
  return (
    <section className="evidence" aria-label={t("models-quality")}>
      <h3>{t("models-quality")}</h3>
      <p className="sheet-words">{t("models-quality.words", { original: original.name })}</p>
      <ActionButton
        className="button"
        data-testid="compare-with-original"
        reason={running ? t("models-quality.running") : null}
        onClick={compare}
      >
        {t("models-quality.compare")}
      </ActionButton>
    </section>
  );
}

/** All that is known of a model on this machine. */
export function LocalDetails({ model, open, onClose }: Props) {
  const { path, repo, fit, mtp, tuning, format, parameters: weights } = model;
  const offline = model.state.state === "offline";
  const size = bytes(model.disk_bytes);
  const show = () => {
    onClose();
    reveal(path);
  };
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={model.name}
      testId="local-details"
      foot={
        <button type="button" className="button" aria-disabled={offline} onClick={offline ? undefined : show}>
          {t("word-show-folder")}
        </button>
      }
    >
      <dl className="facts numbers">
        <Fact name={t("models-fact-fit")}>
          {fit
            ? t("models-verdict", { verdict: verdictLabel(fit), why: fitSentence(fit) })
            : t("models-not-known")}
        </Fact>
        <Fact name={t("models-fact-size")}>
          {weights === null ? size : t("models-size", { size, parameters: parameters(weights) })}
        </Fact>
        <Fact name={t("models-fact-format")}>{format ?? t("models-not-known")}</Fact>
        <Fact name={t("models-fact-drafts")}>{mtp ? mtpBadge(mtp) : t("models-not-known")}</Fact>
        <Fact name={t("models-fact-measured")}>
          {tuning ? tuningLabel(tuning) : t("models-not-measured")}
        </Fact>
        <Fact name={t("models-fact-use")}>{usedLabel(model.last_used, Date.now())}</Fact>
        {repo !== null && <Fact name={t("models-fact-from")}>{repo}</Fact>}
        <Fact name={t("models-fact-folder")}>
          <span className="path">{path}</span>
        </Fact>
      </dl>
      <OutlookPart model={model} onLeave={onClose} />
      {model.evidence ? (
        <EvidencePart evidence={model.evidence} />
      ) : (
        <Unmeasured model={model} onLeave={onClose} />
      )}
    </Sheet>
  );
}
