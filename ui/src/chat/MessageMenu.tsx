import { readReply, stopReading } from "../aloud/actions";
import { compareMessage } from "../benchmarks/actions";
import { useCompareReason } from "../benchmarks/SideBySide";
import type { Message } from "../bridge/bindings";
import { deleteMessage } from "../chatList/deleting";
import { attempt } from "../frame/errors";
import { t } from "../language/text";
import { otherModels } from "../models/models";
import { keysLabel } from "../palette/table";
import { withoutMarks } from "../paper/plain";
import { copy } from "../primitives/clipboard";
import { Icon } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { toggleRevealDrafts } from "../reveal/actions";
import { setView, useReason, useStore, useWritingReason } from "../state/store";
import { answerAgainWith } from "./actions";
import { branchChat } from "./navigation";
import { compareVersions } from "./sideBySide";

/** What lets another model answer a question once more, or the question of a reply; nothing where there is no other. */
function useAnswerAgain({ id, role }: Message): MenuEntry[] {
  const reason = useReason("open");
  const writing = useWritingReason();
  const reply = useStore(({ messages }) =>
    role === "user" ? messages.find(({ parent }) => parent === id)?.id : id,
  );
  const models = useStore((state) => state.models);
  const library = useStore((state) => state.library);
  const selected = useStore((state) => state.selectedModel);
  const others = otherModels(models, library, selected);
  if (reply === undefined || others.length === 0) return [];
  const entries = others.map(({ name, path }) => ({
    name,
    reason: null,
    onSelect: () => answerAgainWith(reply, path),
  }));
  return [{ name: t("chat-answer-again"), reason: writing ?? reason, onSelect: () => {}, entries }];
}

/** What else can be done with a message. */
export function MessageMenu({ message }: { message: Message }) {
  const writing = useWritingReason();
  const comparing = useCompareReason();
  const { id, role, text } = message;
  const compare = {
    name: t("chat-compare-drafts"),
    reason: comparing,
    onSelect: () => compareMessage(id, text),
  };
  const revealed = useStore((state) => state.revealDrafts);
  const reveal = {
    name: t(revealed ? "chat-guesses.hide" : "chat-guesses.show"),
    keys: keysLabel("reveal_drafts"),
    reason: null,
    onSelect: toggleRevealDrafts,
  };
  const again = useAnswerAgain(message);
  const several = useStore(({ versions }) => role === "assistant" && (versions[id]?.length ?? 0) > 1);
  const versions = several
    ? [
        {
          name: t("chat-compare-versions"),
          keys: keysLabel("compare_versions"),
          reason: null,
          onSelect: () => compareVersions(id),
        },
      ]
    : [];
  const edit = { name: t("chat-edit"), reason: writing, onSelect: () => setView({ editing: id }) };
  const hasVoice = useStore((state) => state.hasVoice);
  const isRead = useStore(({ reading }) => reading?.message === id);
  const aloud = {
    name: t(isRead ? "chat-read-aloud.stop" : "chat-read-aloud"),
    keys: keysLabel("read_aloud"),
    reason: null,
    onSelect: () => (isRead ? stopReading() : readReply(id, text)),
  };
  const copyPlain = {
    name: t("chat-copy-plain"),
    reason: text === "" ? t("chat-copy-plain.empty") : null,
    onSelect: () => attempt(() => copy(withoutMarks(text))),
  };
  return (
    <MenuButton
      label={t(role === "user" ? "chat-more.message" : "chat-more")}
      testId="message-more"
      entries={[
        ...(role === "user" ? [compare] : text === "" ? [copyPlain, reveal] : [edit, copyPlain, reveal]),
        ...(role === "assistant" && text !== "" && hasVoice ? [aloud] : []),
        ...again,
        ...versions,
        { name: t("chat-branch"), reason: null, onSelect: () => branchChat(id) },
        { name: t("chat-delete-from"), reason: writing, onSelect: () => deleteMessage(id) },
      ]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}
