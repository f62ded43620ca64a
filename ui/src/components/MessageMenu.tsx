import { toggleRevealDrafts } from "../actions";
import type { Message } from "../bindings";
import { branchChat, deleteMessage } from "../chats/actions";
import { REVEAL_KEYS } from "../platform";
import { useStore, useWritingReason } from "../store";
import { Icon } from "./icons";
import { MenuButton } from "./MenuButton";

/** What else can be done with a message. */
export function MessageMenu({ message }: { message: Message }) {
  const writing = useWritingReason();
  const revealed = useStore((state) => state.revealDrafts);
  const reveal = {
    name: revealed ? "Hide drafts in the text" : "Show drafts in the text",
    keys: REVEAL_KEYS,
    reason: null,
    onSelect: toggleRevealDrafts,
  };
  return (
    <MenuButton
      label={message.role === "user" ? "More for your message" : "More for the reply"}
      testId="message-more"
      entries={[
        ...(message.role === "assistant" ? [reveal] : []),
        { name: "Branch into a new chat", reason: null, onSelect: () => branchChat(message.id) },
        { name: "Delete from here on", reason: writing, onSelect: () => deleteMessage(message.id) },
      ]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}
