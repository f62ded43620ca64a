import { useState } from "react";
import type { ExportedPictures } from "../bridge/bindings";
import { bytes } from "../primitives/format";
import { Sheet } from "../primitives/Sheet";
import { useStore } from "../state/store";
import { goOnExporting } from "./files";
import type { Export } from "./view";

const CHOICES: { choice: ExportedPictures; name: string; words: string }[] = [
  {
    choice: "without_metadata",
    name: "Pictures without place and camera",
    words: "What their files tell of where, when and with what they were taken stays out.",
  },
  { choice: "as_they_are", name: "Pictures as they are", words: "The files, byte for byte." },
  { choice: "left_out", name: "No pictures", words: "Their names alone." },
];

/** What an HTML file can hold: what people see of the pictures here, of which nothing else is told. */
const SHOWN: typeof CHOICES = [
  {
    choice: "without_metadata",
    name: "Pictures as they are shown here",
    words: "Within the file; of where, when and with what they were taken it tells nothing.",
  },
  { choice: "left_out", name: "No pictures", words: "Their names alone." },
];

/** Asks what becomes of the pictures in an export. */
export function ExportSheet() {
  const exporting = useStore((state) => state.exporting);
  return exporting ? <ExportForm {...exporting} /> : null;
}

function ExportForm({ pictureBytes, format }: Export) {
  const [chosen, setChosen] = useState<ExportedPictures>("without_metadata");
  return (
    <Sheet
      open
      onClose={() => goOnExporting(null)}
      title="Export with pictures?"
      testId="export-sheet"
      foot={
        <>
          <span className="soft numbers">The pictures take about {bytes(pictureBytes)}.</span>
          <span className="spring" />
          <button type="button" className="button" onClick={() => goOnExporting(null)}>
            Cancel
          </button>
          <button
            type="button"
            className="button primary"
            data-testid="export-now"
            onClick={() => goOnExporting(chosen)}
          >
            Export
          </button>
        </>
      }
    >
      <fieldset className="export-choices" aria-label="What becomes of the pictures">
        {(format === "html" ? SHOWN : CHOICES).map(({ choice, name, words }) => (
          <label key={choice} className="export-choice">
            <input
              type="radio"
              name="exported-pictures"
              data-testid={`export-${choice}`}
              checked={choice === chosen}
              onChange={() => setChosen(choice)}
            />
            <span>
              {name}
              <span className="export-words">{words}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </Sheet>
  );
}
