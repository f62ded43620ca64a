import { t } from "../language/text";
import { useStore } from "../state/store";
import { Group, Row } from "./Row";
import { builtIn } from "./toolServers";

/** The app's own tools. Each chat says for itself whether it uses them. */
export function BuiltInTools() {
  const tools = useStore((state) => state.tools.built_in);
  if (tools.length === 0) return null;
  return (
    <Group name={t("settings-built-in")} words={t("settings-built-in.words")}>
      {tools.map((tool) => {
        const { name, words } = builtIn(tool);
        return <Row key={tool.name} name={name} words={words} />;
      })}
    </Group>
  );
}
