import { TokenControl } from "../models/Token";
import { useStore } from "../state/store";
import { Page } from "./Page";
import { Group, Row } from "./Row";

/** What models need to come here and to answer. */
export function ModelsPage() {
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
        <Row
          name="Earlier turns"
          words="What was read of a chat is remembered in memory that nobody else needs, and given back when it is scarce. There is nothing to set"
        />
      </Group>
    </Page>
  );
}
