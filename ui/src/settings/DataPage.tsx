import { useEffect } from "react";
import type { PlaceKind } from "../bridge/bindings";
import { HERE, SHOW_FOLDER } from "../primitives/platform";
import { useStore } from "../state/store";
import { actInChats, changePreferences, loadPlaces, revealPlace } from "./actions";
import { Page } from "./Page";
import { RemoveEverything } from "./RemoveEverything";
import { Group, Row, SwitchRow } from "./Row";

const PLACES: Record<PlaceKind, { name: string; words: string }> = {
  settings: { name: "Settings", words: "What you have chosen" },
  chats: { name: "Chats", words: "Chats, their drafts and their daily copies" },
  models: { name: "Models", words: "Models that were downloaded or converted" },
  cache: { name: "Cache", words: "What can be made again; it can be deleted at any time" },
  log: { name: "Log", words: "What the app and the engine say, of this start and the one before" },
};

/** Where everything is kept, and how it leaves and comes back. */
export function DataPage() {
  const places = useStore((state) => state.places) ?? [];
  const { keep_read: keepRead } = useStore((state) => state.preferences);
  const looks = useStore(
    ({ updates, preferences }) =>
      !["off", "barred"].includes(updates.state) && preferences.check_for_updates !== "never",
  );
  useEffect(() => void loadPlaces(), []);
  return (
    <Page title="Privacy and data" testId="settings-data">
      <p className="part-note">
        Everything stays on {HERE}. Only searches and downloads of models go to Hugging Face
        {looks && ", and the look for new versions to where they are published"}.
      </p>
      <Group>
        <Row name="All chats" words="One JSON file holds everything and can be imported again">
          <button
            type="button"
            className="button"
            data-testid="settings-import"
            onClick={() => actInChats("import_chats")}
          >
            Import…
          </button>
          <button
            type="button"
            className="button"
            data-testid="settings-export"
            onClick={() => actInChats("export_chats")}
          >
            Export…
          </button>
        </Row>
      </Group>
      <Group>
        <SwitchRow
          name="Keep what models have read of chats"
          words={`A chat goes on at once after a restart. It takes up to 10 GB on ${HERE} and goes with the chat; switched off, all of it is removed`}
          on={keepRead}
          testId="keep-read"
          onChange={(keep_read) => changePreferences({ keep_read })}
        />
      </Group>
      <Group name="Files">
        {places.map(({ kind, path }) => (
          <Row
            key={kind}
            name={PLACES[kind].name}
            words={
              <>
                {PLACES[kind].words}
                <br />
                <span className="path">{path}</span>
              </>
            }
          >
            <button
              type="button"
              className="button"
              aria-label={`${SHOW_FOLDER}: ${PLACES[kind].name}`}
              data-testid={`reveal-${kind}`}
              onClick={() => revealPlace(kind)}
            >
              {SHOW_FOLDER}
            </button>
          </Row>
        ))}
      </Group>
      <RemoveEverything />
    </Page>
  );
}
