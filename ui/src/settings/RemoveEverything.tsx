import { useEffect, useState } from "react";
import type { Stored } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { t } from "../language/text";
import { bytes } from "../primitives/format";
import { Sheet } from "../primitives/Sheet";
import { attempt } from "./actions";
import { Group, Row } from "./Row";

/** How much is stored, and its end. */
export function RemoveEverything() {
  const [stored, setStored] = useState<Stored | null>(null);
  const [asked, setAsked] = useState(false);
  useEffect(() => void attempt(async () => setStored(await shell.stored())), []);
  return (
    <Group name={t("settings-leaving")}>
      <Row
        name={t("settings-remove")}
        words={
          stored
            ? t("settings-remove.sizes", { size: bytes(stored.bytes), models: bytes(stored.model_bytes) })
            : t("settings-remove.words")
        }
      >
        {stored && (
          <button
            type="button"
            className="button"
            data-testid="remove-everything"
            onClick={() => setAsked(true)}
          >
            {t("settings-remove.ask")}
          </button>
        )}
      </Row>
      {stored && <Question stored={stored} open={asked} onClose={() => setAsked(false)} />}
    </Group>
  );
}

interface Props {
  stored: Stored;
  open: boolean;
  onClose: () => void;
}

function Question({ stored, open, onClose }: Props) {
  const [models, setModels] = useState(false);
  const close = () => {
    // Whoever asks again says it again.
    setModels(false);
    onClose();
  };
  const remove = () => {
    close();
    attempt(() => shell.removeStored(models));
  };
  return (
    <Sheet
      open={open}
      onClose={close}
      title={t("settings-remove-sheet")}
      testId="remove-sheet"
      foot={
        <>
          <span className="spring" />
          <button type="button" className="button" data-testid="remove-cancel" onClick={close}>
            {t("settings-remove-sheet.cancel")}
          </button>
          <button type="button" className="button danger" data-testid="remove-now" onClick={remove}>
            {t(models ? "settings-remove-sheet.remove-all" : "settings-remove-sheet.remove")}
          </button>
        </>
      }
    >
      <p>{t("settings-remove-sheet.words")}</p>
      <ul className="remove-places">
        {stored.folders.map((folder) => (
          <li key={folder} className="path">
            {folder}
          </li>
        ))}
      </ul>
      <label className="check">
        <input
          type="checkbox"
          checked={models}
          data-testid="remove-models"
          onChange={(event) => setModels(event.target.checked)}
        />
        {t("settings-remove-sheet.models", { size: bytes(stored.model_bytes), folder: stored.library })}
      </label>
    </Sheet>
  );
}
