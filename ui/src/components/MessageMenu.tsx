import { compareMessage } from "../benchmarks/actions";
import { useCompareReason } from "../benchmarks/SideBySide";
import type { Message } from "../bindings";
import { branchChat, deleteMessage } from "../chats/actions";
import { useWritingReason } from "../store";
import { Icon } from "./icons";
import { MenuButton } from "./MenuButton";

/** What else can be done with a message. */
export function MessageMenu({ message }: { message: Message }) {
  const writing = useWritingReason();
  const comparing = useCompareReason();
  const { id, role, text } = message;
  const compare = {
    name: "Compare with and without MTP",
    reason: comparing,
    onSelect: () => compareMessage(id, text),
  };
  return (
    <MenuButton
      label={role === "user" ? "More for your message" : "More for the reply"}
      testId="message-more"
      entries={[
        { name: "Branch into a new chat", reason: null, onSelect: () => branchChat(id) },
        ...(role === "user" ? [compare] : []),
        { name: "Delete from here on", reason: writing, onSelect: () => deleteMessage(id) },
      ]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}
