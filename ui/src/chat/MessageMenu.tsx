import { compareMessage } from "../benchmarks/actions";
import { useCompareReason } from "../benchmarks/SideBySide";
import type { Message } from "../bridge/bindings";
import { deleteMessage } from "../chatList/deleting";
import { attempt } from "../frame/errors";
import { keysLabel } from "../palette/table";
import { withoutMarks } from "../paper/plain";
import { copy } from "../primitives/clipboard";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { toggleRevealDrafts } from "../reveal/actions";
import { useStore, useWritingReason } from "../state/store";
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
  const copyPlain = {
    name: "Copy as plain text",
    reason: text === "" ? "There is no text to copy." : null,
    onSelect: () => attempt(() => copy(withoutMarks(text))),
  };
  return (
    <MenuButton
      label={role === "user" ? "More for your message" : "More for the reply"}
      testId="message-more"
      entries={[
        ...(role === "user" ? [compare] : [copyPlain, reveal]),
        { name: "Branch into a new chat", reason: null, onSelect: () => branchChat(id) },
        { name: "Delete from here on", reason: writing, onSelect: () => deleteMessage(id) },
      ]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}
