import { useMemo } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Attachment } from "../bridge/bindings";
import { Fold } from "../frame/Fold";
import { t } from "../language/text";
import { RingPart } from "../macs/RingPart";
import { Fact } from "../primitives/Fact";
import { bytes, count, percent } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { openProject, type ServerState } from "../state/server";
import { setView, useModelName, useStore } from "../state/store";
import { showWithVersions } from "./actions";
import { likelyTokens, sentFiles, withFiles } from "./attachments";
import {
  type Amount,
  contextLabel,
  contextParts,
  isUncounted,
  lastCounted,
  roomLabel,
  toldTexts,
  toolTexts,
} from "./context";
import { useRepliesLabel } from "./repliesLabel";
import { changeChatSettings } from "./settings";
import { severalVersions, versionsLabel } from "./severalVersions";
import { useContextUse } from "./useContextUse";
import { useFileTokens, useTokens } from "./useTokens";

/** How much room the open chat has, how replies are written in it, and what it takes and holds. */
export function ChatPage() {
  const messages = useStore((state) => state.messages);
  const files = useMemo(() => sentFiles(messages), [messages]);
  const tokens = useFileTokens(files);
  const amounts = files.map((file, index) => amount(tokens[index], () => withFiles("", [file])));
  const read = isUncounted(messages) ? messages.length : lastCounted(messages);
  const inContext = amounts.filter((_, index) => (files[index]?.at ?? 0) < read);
  return (
    <>
      <Room files={sum(inContext)} />
      <RingPart />
      <div className="folds chat-rows">
        <Row
          name={t("chat-replies")}
          value={useRepliesLabel()}
          testId="chat-replies"
          onClick={() => setView({ repliesOpen: true })}
        />
        <Standing />
        <InProject />
        <Memory />
        <VersionsRow />
      </div>
      {files.length > 0 && <SentFiles files={files} amounts={amounts} />}
    </>
  );
}

/** What was counted, or else is likely. */
const amount = (counted: number | undefined, text: () => string): Amount =>
  counted === undefined ? { tokens: likelyTokens(text()), about: true } : { tokens: counted, about: false };

const sum = (amounts: Amount[]): Amount => ({
  tokens: amounts.reduce((all, { tokens }) => all + tokens, 0),
  about: amounts.some(({ about }) => about),
});

const amountLabel = ({ tokens, about }: Amount): string =>
  about ? t("chat-about", { count: tokens }) : count(tokens);

const NOTHING: string[] = [];

/** How much texts that all prompts begin with add to what is read. */
function useAmount(of: (state: ServerState) => string[]): Amount {
  const texts = useStore(useShallow(of));
  const typing = useStore((state) => state.repliesOpen);
  // What is being typed is counted once it is written.
  const counted = useTokens(typing ? NOTHING : texts);
  return sum(texts.map((text, index) => amount(counted[index], () => text)));
}

/** Whether what every chat should know holds in this one, where there is something. */
function Standing() {
  const standing = useStore((state) => state.preferences.standing_instructions);
  const without = useStore((state) => state.chatSettings.without_standing);
  if (!/\S/.test(standing)) return null;
  return (
    <section className="fold chat-standing">
      <span className="fold-name" title={standing}>
        {t("chat-standing")}
      </span>
      <button
        type="button"
        role="switch"
        aria-checked={!without}
        aria-label={t("chat-standing")}
        className="switch"
        data-testid="chat-standing"
        onClick={() => changeChatSettings({ without_standing: !without })}
      />
    </section>
  );
}

/** Whether what its project knows holds in this one, where there is something. */
function InProject() {
  const project = useStore(openProject);
  const without = useStore((state) => state.chatSettings.without_project);
  if (!project || (!/\S/.test(project.instructions) && project.files.length === 0)) return null;
  const files = project.files.map(({ name }) => name);
  const words = t("chat-project-knows", { project: project.name });
  return (
    <section className="fold chat-standing">
      <span className="fold-name" title={[project.instructions, ...files].filter(Boolean).join("\n")}>
        {words}
      </span>
      <button
        type="button"
        role="switch"
        aria-checked={!without}
        aria-label={words}
        className="switch"
        data-testid="chat-project"
        onClick={() => changeChatSettings({ without_project: !without })}
      />
    </section>
  );
}

/** How much room the chat has left, and what fills the context. `files`: what those that were read take of it. */
function Room({ files }: { files: Amount }) {
  const messages = useStore((state) => state.messages);
  const name = useModelName();
  const use = useContextUse();
  // The instructions of all chats, those of the project and the system prompt.
  const always = useAmount(toldTexts);
  const tools = useAmount(toolTexts);
  if (use === null) return null;
  // Another model makes other tokens of the same words.
  const about = use.about || messages[lastCounted(messages)]?.model !== name;
  const parts = contextParts(use, always, tools, files).filter(({ tokens }) => tokens > 0);
  return (
    <section className="story" aria-label={t("chat-context")}>
      <p className="story-sentence" data-testid="room">
        {roomLabel(use)}
      </p>
      <p className="story-why" data-testid="context">
        {t(about ? "chat-context.about" : "chat-context.used", {
          used: use.used,
          of: use.of,
          more: contextLabel(use),
        })}
      </p>
      <div
        className="room"
        role="img"
        aria-label={t("chat-context.filled", { share: percent(Math.min(use.used / use.of, 1)) })}
      >
        {parts
          .filter(({ kind }) => kind !== "free")
          .map(({ kind, tokens }) => (
            <span key={kind} className={`fills-${kind}`} style={{ width: `${(100 * tokens) / use.of}%` }} />
          ))}
      </div>
      <dl className="room-key numbers" data-testid="room-key">
        {parts.map(({ kind, name, ...part }) => (
          <div key={kind}>
            <dt>
              <span className={`swatch fills-${kind}`} aria-hidden="true" />
              {name}
            </dt>
            <dd>{amountLabel({ ...part, about: part.about || about })}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface RowProps {
  name: string;
  value: string;
  testId: string;
  onClick: () => void;
}

/** A line that leads to where it can be changed or seen. */
function Row({ name, value, testId, onClick }: RowProps) {
  return (
    <section className="fold">
      <button type="button" className="fold-head" data-testid={testId} onClick={onClick}>
        <span className="fold-name">{name}</span>
        <span className="fold-value numbers">{value}</span>
        <Icon name="right" />
      </button>
    </section>
  );
}

/** What the chat takes of the memory, as its last reply left it. */
function Memory() {
  const stats = useStore(({ messages }) => messages[lastCounted(messages)]?.stats);
  if (!stats || stats.chat_bytes === 0) return null;
  const tokens = stats.prompt_tokens + stats.emitted;
  return (
    <Fold
      name={t("chat-memory")}
      value={t("chat-memory.about", { size: bytes(stats.chat_bytes) })}
      testId="fold-chat_memory"
    >
      <dl className="facts numbers">
        <Fact name={t("chat-memory.tokens")}>{count(tokens)}</Fact>
      </dl>
      <p className="popover-note">{t("chat-memory.why")}</p>
    </Fold>
  );
}

/** Leads to the last message that has other versions. */
function VersionsRow() {
  const messages = useStore((state) => state.messages);
  const versions = useStore((state) => state.versions);
  const several = severalVersions({ messages, versions });
  const label = versionsLabel(several, versions);
  const last = several.at(-1);
  if (last === undefined) return <Fold name={t("chat-versions")} value={label} />;
  return (
    <Row
      name={t("chat-versions")}
      value={label}
      testId="chat-versions"
      onClick={() => showWithVersions(last.id)}
    />
  );
}

/** The files that went with messages, and what they cost. */
function SentFiles({ files, amounts }: { files: Attachment[]; amounts: Amount[] }) {
  return (
    <section className="chat-files" aria-labelledby="chat-files">
      <h2 id="chat-files">{t("chat-files")}</h2>
      <ul data-testid="chat-files">
        {files.map(({ name }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may be the same
          <li key={index}>
            <Icon name="file" />
            <span className="file-name" title={name}>
              {name}
            </span>
            <span className="numbers">{amountLabel(amounts[index] as Amount)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
