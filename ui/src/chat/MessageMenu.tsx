import { compareMessage } from "../benchmarks/actions";
import { useCompareReason } from "../benchmarks/SideBySide";
import type { Message } from "../bridge/bindings";
import { deleteMessage } from "../chatList/deleting";
import { keysLabel } from "../palette/table";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { toggleRevealDrafts } from "../reveal/actions";
import { setView, useStore, useWritingReason } from "../state/store";
import { branchChat } from "./navigation";

/** What else can be done with a message. */
export function MessageMenu({ message }: { message: Message }) {
  const writing = useWritingReason();
  const comparing = useCompareReason();
  const { id, role, text } = message;
  const compare = {
    name: "Compare with and without drafts",
    reason: comparing,
    onSelect: () => compareMessage(id, text),
  };
  const revealed = useStore((state) => state.revealDrafts);
  const reveal = {
    name: revealed ? "Hide guesses in the text" : "Show guesses in the text",
    keys: keysLabel("reveal_drafts"),
    reason: null,
    onSelect: toggleRevealDrafts,
  };
  const edit = { name: "Edit", reason: writing, onSelect: () => setView({ editing: id }) };
  return (
    <MenuButton
      label={role === "user" ? "More for your message" : "More for the reply"}
      testId="message-more"
      entries={[
        ...(role === "user" ? [compare] : text === "" ? [reveal] : [edit, reveal]),
        { name: "Branch into a new chat", reason: null, onSelect: () => branchChat(id) },
        { name: "Delete from here on", reason: writing, onSelect: () => deleteMessage(id) },
      ]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}
