import type { LocalModel } from "../bridge/bindings";
import { ActionButton } from "../primitives/ActionButton";
import { Fact } from "../primitives/Fact";
import { bytes, parameters } from "../primitives/format";
import { SHOW_FOLDER } from "../primitives/platform";
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
    <section className="evidence" aria-label="Quality">
      <h3>Quality</h3>
      <p className="sheet-words">
        {`It seems to be made from ${original.name}. How close it is can be measured: both read the same texts. That takes minutes, and neither has to fit in memory.`}
      </p>
      <ActionButton
        className="button"
        data-testid="compare-with-original"
        reason={running ? "It is being compared." : null}
        onClick={compare}
      >
        Compare with the original
      </ActionButton>
    </section>
  );
}

/** All that is known of a model on this machine. */
export function LocalDetails({ model, open, onClose }: Props) {
  const { path, repo, fit, mtp, tuning, format, parameters: weights } = model;
  const offline = model.state.state === "offline";
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
          {SHOW_FOLDER}
        </button>
      }
    >
      <dl className="facts numbers">
        <Fact name="Fit">{fit ? `${verdictLabel(fit)}. ${fitSentence(fit)}` : "Not known"}</Fact>
        <Fact name="Size">
          {bytes(model.disk_bytes)}
          {weights !== null && `, ${parameters(weights)}`}
        </Fact>
        <Fact name="Format">{format ?? "Not known"}</Fact>
        <Fact name="Drafts">{mtp ? mtpBadge(mtp) : "Not known"}</Fact>
        <Fact name="Measured">{tuning ? tuningLabel(tuning) : "Not yet"}</Fact>
        <Fact name="Use">{usedLabel(model.last_used, Date.now())}</Fact>
        {repo !== null && <Fact name="From">{repo}</Fact>}
        <Fact name="Folder">
          <span className="path">{path}</span>
        </Fact>
      </dl>
      {model.evidence ? (
        <EvidencePart evidence={model.evidence} />
      ) : (
        <Unmeasured model={model} onLeave={onClose} />
      )}
    </Sheet>
  );
}
