import { useEffect, useState } from "react";
import type { MeasuringOutlook } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
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
    <section className="measure-first" aria-label="Measure first" data-testid="measure-first">
      <p className="sheet-words">
        First it is measured how much each part of the model suffers from fewer bits. Then you choose a size,
        and each part gets the bits that it needs.
      </p>
      {outlook && (
        <p className="sheet-words numbers" data-testid="measure-outlook">
          {`Measuring and converting take ${aboutTime(outlook.seconds)}, ${bytes(outlook.peak_bytes)} of memory and ${bytes(outlook.disk_bytes)} on the disk. You can go on chatting, and pause it.`}
        </p>
      )}
      <div className="measured-text">
        <span>
          Text: <strong>{textName(text)}</strong>
        </span>
        <button type="button" className="button" data-testid="choose-text" onClick={choose}>
          Choose a file…
        </button>
        {text !== null && (
          <button type="button" className="button" data-testid="own-texts" onClick={() => onText(null)}>
            Use the program’s own
          </button>
        )}
      </div>
      <p className="sheet-words soft">
        {text === null
          ? "A text like those that you work with makes it fit you better: plain text, Markdown or lines of JSON."
          : "It is read on this Mac, and neither copied nor sent. It must stay where it is until the conversion."}
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
