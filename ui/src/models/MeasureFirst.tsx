import { useEffect, useState } from "react";
import type { MeasuringOutlook } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { bytes } from "../primitives/format";
import { about, chooseMeasuredText } from "./actions";
import { LibraryError } from "./LibraryError";
import { aboutTime, textName } from "./quality";

interface Props {
  path: string;
  /** The person's own text; null for those of the program. */
  text: string | null;
  onText: (text: string | null) => void;
}

/** What is measured before a size can be chosen, what that takes, and on which text. */
export function MeasureFirst({ path, text, onText }: Props) {
  const outlook = useOutlook(path, text);
  const choose = async () => {
    const chosen = await chooseMeasuredText(path);
    if (chosen !== null) onText(chosen);
  };
  return (
    <section className="measure-first" aria-label={t("model-measure-first")} data-testid="measure-first">
      <p className="sheet-words">{t("model-measure-first.words")}</p>
      {outlook && (
        <p className="sheet-words numbers" data-testid="measure-outlook">
          {t("model-measure-first.takes", {
            time: aboutTime(outlook.seconds),
            memory: bytes(outlook.peak_bytes),
            disk: bytes(outlook.disk_bytes),
          })}
        </p>
      )}
      <div className="measured-text">
        <span>
          <RichText
            id="model-measured-text"
            args={{ text: textName(text) }}
            parts={{ name: (words) => <strong>{words}</strong> }}
          />
        </span>
        <button type="button" className="button" data-testid="choose-text" onClick={choose}>
          {t("model-measured-text.choose")}
        </button>
        {text !== null && (
          <button type="button" className="button" data-testid="own-texts" onClick={() => onText(null)}>
            {t("model-measured-text.own")}
          </button>
        )}
      </div>
      <p className="sheet-words soft">
        {t(text === null ? "model-measured-text.which" : "model-measured-text.private")}
      </p>
      <LibraryError subject={about.text(path)} />
    </section>
  );
}

/** What it takes; null until that is known, and where nothing tells. */
function useOutlook(path: string, text: string | null): MeasuringOutlook | null {
  const [outlook, setOutlook] = useState<MeasuringOutlook | null>(null);
  useEffect(() => {
    let wanted = true;
    const tell = (outlook: MeasuringOutlook | null) => wanted && setOutlook(outlook);
    tell(null);
    shell.measuringOutlook(path, text).then(tell, () => tell(null));
    return () => {
      wanted = false;
    };
  }, [path, text]);
  return outlook;
}
