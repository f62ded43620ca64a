import { useState } from "react";
import type { ConversionChoice, LocalModel } from "../bridge/bindings";
import { ActionButton } from "../primitives/ActionButton";
import { Sheet } from "../primitives/Sheet";
import { convertModel } from "./actions";
import { ConversionForm } from "./ConversionForm";

interface Props {
  model: LocalModel;
  open: boolean;
  onClose: () => void;
}

/** How a model that is here is converted. */
export function ConvertSheet({ model, open, onClose }: Props) {
  const [choice, setChoice] = useState<ConversionChoice>({ bits: 4, keep_raw: true });
  const own = model.origin === "library";
  const begin = () => {
    onClose();
    convertModel(model.path, choice);
  };
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={`Convert ${model.name}`}
      testId="convert-sheet"
      foot={
        <ActionButton className="button primary" data-testid="convert" reason={null} onClick={begin}>
          Convert
        </ActionButton>
      }
    >
      <p className="sheet-words">
        Fewer bits for each weight take less memory and answer faster. The MTP head is kept.
      </p>
      <ConversionForm choice={choice} onChange={setChoice} removable={own} />
      <p className="sheet-words soft">
        {own
          ? "The converted model is put into the library, and its speed is measured."
          : "The converted model is put into the library, and its speed is measured. The original stays as it is."}
      </p>
    </Sheet>
  );
}
