import { useEffect } from "react";
import type { PlaceKind } from "../bridge/bindings";
import { t } from "../language/text";
import { useStore } from "../state/store";
import { actInChats, changePreferences, loadPlaces, revealPlace } from "./actions";
import { Page } from "./Page";
import { RemoveEverything } from "./RemoveEverything";
import { Group, Row, SwitchRow } from "./Row";

const placeTexts = (): Record<PlaceKind, { name: string; words: string }> => ({
  settings: { name: t("settings-place-settings"), words: t("settings-place-settings.words") },
  chats: { name: t("settings-place-chats"), words: t("settings-place-chats.words") },
  models: { name: t("settings-place-models"), words: t("settings-place-models.words") },
  cache: { name: t("settings-place-cache"), words: t("settings-place-cache.words") },
  log: { name: t("settings-place-log"), words: t("settings-place-log.words") },
});

/** Where everything is kept, and how it leaves and comes back. */
export function DataPage() {
  const places = useStore((state) => state.places) ?? [];
  const texts = placeTexts();
  const { keep_read: keepRead } = useStore((state) => state.preferences);
  const looks = useStore(
    ({ updates, preferences }) =>
      !["off", "barred"].includes(updates.state) && preferences.check_for_updates !== "never",
  );
  useEffect(() => void loadPlaces(), []);
  return (
    <Page title={t("settings-page.data")} testId="settings-data">
      <p className="part-note">{t(looks ? "settings-data-note.updates" : "settings-data-note")}</p>
      <Group>
        <Row name={t("settings-all-chats")} words={t("settings-all-chats.words")}>
          <button
            type="button"
            className="button"
            data-testid="settings-import"
            onClick={() => actInChats("import_chats")}
          >
            {t("settings-all-chats.import")}
          </button>
          <button
            type="button"
            className="button"
            data-testid="settings-export"
            onClick={() => actInChats("export_chats")}
          >
            {t("settings-all-chats.export")}
          </button>
        </Row>
      </Group>
      <Group>
        <SwitchRow
          name={t("settings-keep-read")}
          words={t("settings-keep-read.words")}
          on={keepRead}
          testId="keep-read"
          onChange={(keep_read) => changePreferences({ keep_read })}
        />
      </Group>
      <Group name={t("settings-files")}>
        {places.map(({ kind, path }) => (
          <Row
            key={kind}
            name={texts[kind].name}
            words={
              <>
                {texts[kind].words}
                <br />
                <span className="path">{path}</span>
              </>
            }
          >
            <button
              type="button"
              className="button"
              aria-label={t("settings-files.reveal", { place: texts[kind].name })}
              data-testid={`reveal-${kind}`}
              onClick={() => revealPlace(kind)}
            >
              {t("word-show-folder")}
            </button>
          </Row>
        ))}
      </Group>
      <RemoveEverything />
    </Page>
  );
}
