import { t } from "../language/text";
import { useStore } from "../state/store";
import { ownSource } from "./ownTools";
import { Group, Row } from "./Row";

/** The app's own tools. Each chat says for itself whether it uses them. */
export function BuiltInTools() {
  const sources = useStore((state) => state.tools.built_in);
  if (sources.length === 0) return null;
  return (
    <Group name={t("settings-built-in")} words={t("settings-built-in.words")}>
      {sources.map((source) => (
        <Row key={source.id} {...ownSource(source)} />
      ))}
    </Group>
  );
}
