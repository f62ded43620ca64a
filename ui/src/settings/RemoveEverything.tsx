import { useEffect, useState } from "react";
import type { Stored } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
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
    <Group name="Leaving">
      <Row
        name="Remove everything that Foretoken has stored"
        words={
          stored
            ? `${bytes(stored.bytes)} of chats, settings and caches, and ${bytes(stored.model_bytes)} of models. Foretoken then quits`
            : "Chats, settings, caches and models. Foretoken then quits"
        }
      >
        {stored && (
          <button
            type="button"
            className="button"
            data-testid="remove-everything"
            onClick={() => setAsked(true)}
          >
            Remove…
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
      title="Remove everything?"
      testId="remove-sheet"
      foot={
        <>
          <span className="spring" />
          <button type="button" className="button" data-testid="remove-cancel" onClick={close}>
            Cancel
          </button>
          <button type="button" className="button danger" data-testid="remove-now" onClick={remove}>
            {models ? "Remove all, models too, and quit" : "Remove and quit"}
          </button>
        </>
      }
    >
      <p>
        Chats with their copies, settings, what models have read, measurements, the log and the tokens in the
        keychain go for good. Export your chats first if you may want them again.
      </p>
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
        Remove the models too ({bytes(stored.model_bytes)} in {stored.library})
      </label>
    </Sheet>
  );
}
