import { useState } from "react";
import { t } from "../language/text";
import { useStore } from "../state/store";
import { Group } from "./Row";
import { ServerForm } from "./ServerForm";
import { ServerRow } from "./ServerRow";
import { useComeBack } from "./useComeBack";

/** The servers whose tools chats may use, and a form for one more. */
export function ToolServers() {
  const servers = useStore((state) => state.tools.servers);
  const [adds, setAdds] = useState(false);
  const { button, comeBack } = useComeBack();
  const close = () => {
    comeBack();
    setAdds(false);
  };
  return (
    <Group name={t("settings-servers")} words={t("settings-servers.words")}>
      {servers.length === 0 && !adds && <p className="part-note">{t("settings-servers.none")}</p>}
      {servers.map((server) => (
        <ServerRow key={server.slug} server={server} />
      ))}
      {adds ? (
        <ServerForm server={null} onClose={close} />
      ) : (
        <div className="servers-foot">
          <button
            ref={button}
            type="button"
            className="button"
            data-testid="add-server"
            onClick={() => setAdds(true)}
          >
            {t("settings-servers.add")}
          </button>
        </div>
      )}
    </Group>
  );
}
