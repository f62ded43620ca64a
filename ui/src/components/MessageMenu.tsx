import type { Message } from "../bindings";
import { branchChat, deleteMessage } from "../chats/actions";
import { useWritingReason } from "../store";
import { Icon } from "./icons";
import { MenuButton } from "./MenuButton";

/** What else can be done with a message. */
export function MessageMenu({ message }: { message: Message }) {
  const writing = useWritingReason();
  return (
    <MenuButton
      label={message.role === "user" ? "More for your message" : "More for the reply"}
      testId="message-more"
      entries={[
        { name: "Branch into a new chat", reason: null, onSelect: () => branchChat(message.id) },
        { name: "Delete from here on", reason: writing, onSelect: () => deleteMessage(message.id) },
      ]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}
