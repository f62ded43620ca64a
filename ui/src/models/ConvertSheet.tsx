import { type ReactNode, useEffect, useState } from "react";
import type { KeptOffer, LocalModel, Weights } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { percent } from "../primitives/format";
import { Sheet } from "../primitives/Sheet";
import { useStore } from "../state/store";
import { convertModel, measureQuality, qualityOffer } from "./actions";
import { ConversionForm } from "./ConversionForm";
import { isOpen, isRunning, share } from "./jobs";
import { stageLabel } from "./labels";
import { MeasureFirst } from "./MeasureFirst";
import { QualitySlider } from "./QualitySlider";
import { stopAt, stopsOf, textName } from "./quality";

interface Props {
  model: LocalModel;
  open: boolean;
  onClose: () => void;
}

/** How a model that is here is converted. */
export function ConvertSheet({ model, open, onClose }: Props) {
  const { path } = model;
  const own = model.origin === "library";
  const [weights, setWeights] = useState<Weights | null>({ kind: "bits", bits: 4 });
  const [keepRaw, setKeepRaw] = useState(true);
  const [text, setText] = useState<string | null>(null);
  /** Whether what was measured is to be measured again. */
  const [again, setAgain] = useState(false);
  const byQuality = weights === null || weights.kind === "chosen";
  const probe = useStore((state) =>
    state.library?.jobs.find((job) => job.kind === "probe" && job.model === path && isOpen(job)),
  );
  const kept = useOffer(path, open && byQuality && !probe);
  const models = useStore((state) => state.library?.models);
  const offer = again ? null : (kept?.offer ?? null);
  const stops = offer ? stopsOf(offer, models ?? [], path) : [];
  const at = offer ? stopAt(stops, weights?.kind === "chosen" ? weights.bytes : null, offer) : 0;
  const stop = stops[at];

  const close = () => {
    onClose();
    setAgain(false);
  };
  const measure = () => {
    close();
    measureQuality(path, text);
  };
  const convert = () => {
    const chosen: Weights | null | undefined = byQuality
      ? stop && { kind: "chosen", bytes: stop.bytes }
      : weights;
    if (!chosen) return;
    close();
    convertModel(path, { weights: chosen, keep_raw: !own || keepRaw });
  };

  let body: ReactNode = null;
  let foot = (
    <ActionButton className="button primary" data-testid="convert" reason={null} onClick={convert}>
      {t("model-convert")}
    </ActionButton>
  );
  if (byQuality && probe) {
    const part = share(probe);
    const stage = stageLabel(probe.stage);
    body = <p className="sheet-words">{t("model-convert-later")}</p>;
    foot = (
      <p className="sheet-state numbers" role="status">
        {isRunning(probe) && part !== null
          ? t("model-convert-measuring", { stage, share: percent(part) })
          : stage}
      </p>
    );
  } else if (byQuality && kept === undefined) {
    foot = <p className="sheet-state">{t("model-convert-looking")}</p>;
  } else if (byQuality && offer && stop) {
    body = (
      <>
        <QualitySlider
          model={model}
          stops={stops}
          at={at}
          onChoose={({ bytes }) => setWeights({ kind: "chosen", bytes })}
        />
        <p className="sheet-words soft">
          {t("model-measured-on", { text: textName(kept?.text ?? null) })}{" "}
          <button
            type="button"
            className="word-button"
            data-testid="measure-again"
            onClick={() => setAgain(true)}
          >
            {t("model-measure-again")}
          </button>
        </p>
      </>
    );
    foot = (
      <ActionButton
        className="button primary"
        data-testid="convert"
        reason={stop.model ? t("model-convert-here") : null}
        onClick={convert}
      >
        {t("model-convert")}
      </ActionButton>
    );
  } else if (byQuality) {
    body = <MeasureFirst path={path} text={text} onText={setText} />;
    foot = (
      <ActionButton className="button primary" data-testid="measure" reason={null} onClick={measure}>
        {t("model-measure")}
      </ActionButton>
    );
  }
  return (
    <Sheet
      open={open}
      onClose={close}
      title={t("model-convert-sheet", { name: model.name })}
      testId="convert-sheet"
      foot={foot}
    >
      <p className="sheet-words">{t("model-convert-why")}</p>
      <ConversionForm
        weights={weights}
        onWeights={setWeights}
        onQuality={() => setWeights(null)}
        keepRaw={own ? keepRaw : null}
        onKeepRaw={setKeepRaw}
      />
      {body}
      <p className="sheet-words soft">{t(own ? "model-convert-then" : "model-convert-then.keeping")}</p>
    </Sheet>
  );
}

/** What a model can be converted to; null while that is not measured, undefined until it is known. */
function useOffer(path: string, asked: boolean): KeptOffer | null | undefined {
  const [offer, setOffer] = useState<KeptOffer | null>();
  useEffect(() => {
    if (!asked) return;
    let wanted = true;
    qualityOffer(path).then((offer) => wanted && setOffer(offer));
    return () => {
      wanted = false;
      setOffer(undefined);
    };
  }, [path, asked]);
  return offer;
}
