import { t } from "../language/text";
import { HUB_PARTS, HubAddressControl, hubPartName, hubPartWords } from "../models/HubAddress";
import { TokenControl } from "../models/Token";
import { useStore } from "../state/store";
import { changePreferences } from "./actions";
import { Page } from "./Page";
import { Group, Row, SelectRow } from "./Row";

const NEVER = "never";
/** After how many idle minutes a model may be unloaded. */
const IDLE_MINUTES = [5, 15, 30, 60];

/** What models need to come here and to answer. */
export function ModelsPage() {
  const unloadAfter = useStore((state) => state.preferences.unload_after);
  const hub = useStore((state) => state.library?.hub);
  const hasToken = useStore((state) => state.library?.has_token ?? false);
  return (
    <Page title={t("settings-page.models")} testId="settings-models">
      <Group>
        <Row
          name={t("settings-hub-token")}
          words={t(hasToken ? "settings-hub-token.set" : "settings-hub-token.unset")}
        >
          <TokenControl />
        </Row>
        {hub &&
          HUB_PARTS.map((part) => (
            <Row key={part} name={hubPartName(part)} words={hubPartWords(hub, part)}>
              <HubAddressControl part={part} />
            </Row>
          ))}
        <SelectRow
          name={t("settings-unload")}
          words={t("settings-unload.words")}
          value={unloadAfter === null ? NEVER : String(unloadAfter)}
          options={[
            [NEVER, t("settings-unload.never")],
            ...[...new Set([...IDLE_MINUTES, ...(unloadAfter === null ? [] : [unloadAfter])])].map(
              (minutes) => [String(minutes), t("settings-unload.after", { minutes })] as const,
            ),
          ]}
          testId="unload-after"
          onChange={(value) => changePreferences({ unload_after: value === NEVER ? null : Number(value) })}
        />
        <Row name={t("settings-earlier-turns")} words={t("settings-earlier-turns.words")} />
      </Group>
    </Page>
  );
}
