import { HubAddressControl, hubPartName, hubPartWords } from "../models/HubAddress";
import { TokenControl } from "../models/Token";
import { useStore } from "../state/store";
import { changePreferences } from "./actions";
import { Page } from "./Page";
import { Group, Row, SelectRow } from "./Row";

const HUB_PARTS = ["address", "proxy"] as const;
const NEVER = "never";
/** After how many idle minutes a model may be unloaded. */
const IDLE_MINUTES = [5, 15, 30, 60];

/** What models need to come here and to answer. */
export function ModelsPage() {
  const unloadAfter = useStore((state) => state.preferences.unload_after);
  const hub = useStore((state) => state.library?.hub);
  const hasToken = useStore((state) => state.library?.has_token ?? false);
  return (
    <Page title="Models and memory" testId="settings-models">
      <Group>
        <Row
          name="Hugging Face token"
          words={
            hasToken ? "Set. It is in the system’s keychain" : "Not set. Only restricted models need one"
          }
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
          name="Give back the model’s memory"
          words="When nobody has asked for a while. The next question loads the model again, which takes as long as at the start"
          value={unloadAfter === null ? NEVER : String(unloadAfter)}
          options={[
            [NEVER, "Never"],
            ...[...new Set([...IDLE_MINUTES, ...(unloadAfter === null ? [] : [unloadAfter])])].map(
              (minutes) =>
                [String(minutes), minutes === 1 ? "After a minute" : `After ${minutes} minutes`] as const,
            ),
          ]}
          testId="unload-after"
          onChange={(value) => changePreferences({ unload_after: value === NEVER ? null : Number(value) })}
        />
        <Row
          name="Earlier turns"
          words="What was read of a chat is remembered in memory that nobody else needs, and given back when it is scarce. There is nothing to set"
        />
      </Group>
    </Page>
  );
}
