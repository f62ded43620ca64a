import { newChat } from "../chat/navigation";
import { t } from "../language/text";
import { keysLabel } from "../palette/table";
import { Icon } from "../primitives/icons";
import { useStore } from "../state/store";
import { SidebarToggle } from "./Sidebar";
import { sidebarShown } from "./view";

/** The beginning of the title area: what calls the sidebar while it is away, and in a narrow window a new chat. */
export function TitleStart() {
  const shown = useStore(sidebarShown);
  const narrow = useStore((state) => state.narrow);
  const alone = useStore((state) => state.alone !== null);
  if (alone || (shown && !narrow)) return null;
  return (
    // Its place is kept while the sidebar lies over it, so that the title stays where it is.
    <span className="title-start" data-tauri-drag-region>
      {!shown && <SidebarToggle />}
      {!shown && narrow && <NewChatButton />}
    </span>
  );
}

function NewChatButton() {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={t("action-new-chat")}
      title={t("frame-new-chat-keys", { keys: keysLabel("new_chat") ?? "" })}
      data-testid="new-chat"
      onClick={newChat}
    >
      <Icon name="write" />
    </button>
  );
}
