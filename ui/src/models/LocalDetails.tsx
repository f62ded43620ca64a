import type { LocalModel } from "../bridge/bindings";
import { Fact } from "../primitives/Fact";
import { bytes, parameters } from "../primitives/format";
import { SHOW_FOLDER } from "../primitives/platform";
import { Sheet } from "../primitives/Sheet";
import { reveal } from "./actions";
import { EvidencePart } from "./EvidencePart";
import { fitSentence, mtpBadge, tuningLabel, usedLabel, verdictLabel } from "./labels";

interface Props {
  model: LocalModel;
  open: boolean;
  onClose: () => void;
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
      {model.evidence && <EvidencePart evidence={model.evidence} />}
    </Sheet>
  );
}
