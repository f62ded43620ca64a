import { useState } from "react";
import type { ExportedPictures } from "../bridge/bindings";
import { t } from "../language/text";
import { bytes } from "../primitives/format";
import { Sheet } from "../primitives/Sheet";
import { useStore } from "../state/store";
import { goOnExporting } from "./files";
import type { Export, FileFormat } from "./view";

interface Choice {
  choice: ExportedPictures;
  name: string;
  words: string;
}

/** What can become of the pictures. */
function choicesOf(format: FileFormat): Choice[] {
  const leftOut: Choice = {
    choice: "left_out",
    name: t("chats-export-left-out"),
    words: t("chats-export-left-out.words"),
  };
  // An HTML file holds what people see of the pictures here, of which nothing else is told.
  if (format === "html")
    return [
      {
        choice: "without_metadata",
        name: t("chats-export-shown"),
        words: t("chats-export-shown.words"),
      },
      leftOut,
    ];
  return [
    {
      choice: "without_metadata",
      name: t("chats-export-stripped"),
      words: t("chats-export-stripped.words"),
    },
    {
      choice: "as_they_are",
      name: t("chats-export-unchanged"),
      words: t("chats-export-unchanged.words"),
    },
    leftOut,
  ];
}

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
      title={t("chats-export-sheet")}
      testId="export-sheet"
      foot={
        <>
          <span className="soft numbers">{t("chats-export-size", { size: bytes(pictureBytes) })}</span>
          <span className="spring" />
          <button type="button" className="button" onClick={() => goOnExporting(null)}>
            {t("chats-export-cancel")}
          </button>
          <button
            type="button"
            className="button primary"
            data-testid="export-now"
            onClick={() => goOnExporting(chosen)}
          >
            {t("chats-export-now")}
          </button>
        </>
      }
    >
      <fieldset className="export-choices" aria-label={t("chats-export-choices")}>
        {choicesOf(format).map(({ choice, name, words }) => (
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
