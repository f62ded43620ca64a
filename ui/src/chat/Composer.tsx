import { type ClipboardEvent, type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Attachment, MessagePicture } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { SignedNote } from "../frame/SignedNote";
import { getModels } from "../models/actions";
import { openModel } from "../models/choose";
import { otherModels } from "../models/models";
import { ActionButton } from "../primitives/ActionButton";
import { count } from "../primitives/format";
import { GrowingField } from "../primitives/GrowingField";
import { Icon } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { usePromptList } from "../prompts/usePromptList";
import { modelBefore, shownProject, streamingReply } from "../state/server";
import {
  setView,
  summaryReason,
  useGeneration,
  useModel,
  useModelName,
  useReason,
  useStore,
  useWritingReason,
} from "../state/store";
import { send, stop } from "./actions";
import { attachPasted, chooseAttachments, choosePictures, detach, hide, setDetail } from "./attaching";
import { contextLabel, contextUse, roomLabel } from "./context";
import { setDraft } from "./drafts";
import { FileChips } from "./Files";
import { contextRoom, longFiles } from "./longFiles";
import { MtpControl } from "./MtpControl";
import { keepChat, newChat } from "./navigation";
import { Pictures } from "./Pictures";
import { filesOf } from "./pasted";
import { blindness, hasPictures, modelThatSees } from "./pictures";
import { enqueue, goesFirst, takeBack } from "./queue";
import { RepliesControl } from "./RepliesControl";
import { SummariseButton, SummaryNote } from "./Summarise";
import { askTwoModels } from "./sideBySide";
import { stopUnseenSummary } from "./summarise";
import { useFileTokens } from "./useTokens";
import { awaitedFiles, canBeSummarised, draftKey, isTemporary } from "./view";
import { WaitingMessages } from "./WaitingMessages";

const NONE: Attachment[] = [];
const NO_PICTURES: MessagePicture[] = [];

/** Where the person writes. */
export function Composer() {
  const chat = useStore((state) => state.chat);
  const text = useStore((state) => state.drafts[draftKey(state.chat)] ?? "");
  const files = useStore((state) => state.attached[draftKey(state.chat)]) ?? NONE;
  const pictures = useStore((state) => state.pictures[draftKey(state.chat)]) ?? NO_PICTURES;
  const pendingFiles = useStore(useShallow(awaitedFiles));
  const streaming = useStore(streamingReply) !== null;
  const questionsSent = useStore((state) => state.questionsSent);
  const error = useStore((state) => state.actionError);
  const model = useModelName();
  const project = useStore((state) => shownProject(state)?.name);
  const field = useRef<HTMLTextAreaElement>(null);
  const room = useStore(contextRoom);
  const tokens = useFileTokens(files);
  const long = useMemo(() => longFiles(files, room, tokens), [files, room, tokens]);
  const cannotAsk = useReason("ask");
  const cannotSend =
    pendingFiles.length > 0
      ? "A file is still being read."
      : !/\S/.test(text) && long.files.length > 0
        ? "Ask something: the parts of the long file that fit the question are read."
        : !/\S/.test(text) && files.length + pictures.length === 0
          ? "There is no message to send yet."
          : null;
  const summarising = useStore(summaryReason);
  const reason = cannotAsk ?? summarising ?? cannotSend;

  // biome-ignore lint/correctness/useExhaustiveDependencies: opening a chat or asking is a reason to write on
  useEffect(() => {
    // Whoever walks through what a search has found goes on with that.
    if (document.activeElement?.closest("[data-testid=hits]")) return;
    field.current?.focus({ preventScroll: true });
  }, [chat, questionsSent]);

  const submit = () => {
    if (reason !== null) return;
    if (streaming || (chat !== null && goesFirst(chat))) enqueue(text, files, pictures);
    else send(text, files, pictures, long);
  };
  const prompts = usePromptList(text);
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (prompts.onKeyDown(event)) return;
    if (event.key === "ArrowUp" && text === "" && takeBack()) event.preventDefault();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    submit();
  };
  const onHide = (index: number) => {
    hide(index);
    // The button that was used is gone.
    field.current?.focus();
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = filesOf(event.clipboardData);
    if (pasted.length === 0) return;
    event.preventDefault();
    attachPasted(pasted);
  };

  return (
    <div className="composer-place">
      {error && (
        <ErrorNote
          error={error}
          testId="action-error"
          actions={
            <>
              {error.code === "already_summarising" && chat !== null && (
                <button type="button" className="button" onClick={() => stopUnseenSummary(chat)}>
                  Stop the summary
                </button>
              )}
              <button type="button" className="button" onClick={() => setView({ actionError: null })}>
                Dismiss
              </button>
            </>
          }
        />
      )}
      <TemporaryNote />
      <ModelNote />
      <SecondNote />
      <SummaryNote />
      <ContextNote />
      <PicturesNote attached={pictures} />
      {chat !== null && <WaitingMessages chat={chat} />}
      <form
        className="composer"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {prompts.list}
        <Pictures pictures={pictures} onRemove={onHide} onDetail={setDetail} />
        <GrowingField
          {...prompts.field}
          ref={field}
          text={text}
          onText={setDraft}
          placeholder={project ? `Ask in ${project}` : model ? `Message ${model}` : "Message"}
          aria-label="Message"
          data-testid="composer"
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <FileChips
          files={files}
          tokens={tokens}
          long={long.files}
          pendingFiles={pendingFiles}
          onRemove={detach}
        />
        <div className="controls">
          <AttachButton />
          <MtpControl />
          <RepliesControl />
          <span className="spring" />
          {!streaming && reason === null && <AskTwoButton />}
          {streaming ? (
            <button
              type="button"
              className="stop"
              data-testid="stop"
              aria-label="Stop"
              title="Stop (Esc)"
              onClick={stop}
            >
              <span className="stop-square" />
            </button>
          ) : (
            <ActionButton
              type="submit"
              className="send"
              data-testid="send"
              aria-label="Send"
              title="Send (Enter)"
              reason={reason}
            >
              <Icon name="up" />
            </ActionButton>
          )}
        </div>
      </form>
    </div>
  );
}

/** Attaches files or pictures. Where the model sees no pictures it says why, and leads to others. */
function AttachButton() {
  const blind = blindness(useModel());
  const entries: MenuEntry[] = [
    { name: "Files: text, code, PDF, Word, Excel", reason: null, onSelect: chooseAttachments },
    { name: "Pictures", reason: blind, onSelect: choosePictures },
  ];
  const offer = useModelThatSees();
  if (blind !== null && offer !== null)
    entries.push({ ...offer, name: `${offer.name}, which sees pictures` });
  else if (blind !== null)
    entries.push({ name: "Get a model that sees pictures", reason: null, onSelect: getModels });
  return (
    <MenuButton label="Attach files or pictures" testId="attach" entries={entries} side="top" align="start">
      <Icon name="plus" />
    </MenuButton>
  );
}

/** Lets a second model answer what is sent, where there is another one. */
function AskTwoButton() {
  const reason = useReason("open");
  const models = useStore((state) => state.models);
  const library = useStore((state) => state.library);
  const selected = useStore((state) => state.selectedModel);
  const others = otherModels(models, library, selected);
  if (others.length === 0) return null;
  const entries = others.map(({ name, path }) => ({
    name: `Ask ${name} too`,
    reason,
    onSelect: () => askTwoModels(path, name),
  }));
  return (
    <MenuButton label="Ask two models" testId="ask-two" entries={entries} side="top">
      <Icon name="columns" />
    </MenuButton>
  );
}

/** Says that the model which would answer sees no pictures, where there are some. */
function PicturesNote({ attached }: { attached: MessagePicture[] }) {
  const blind = blindness(useModel());
  const model = useModelName();
  const sent = useStore((state) => hasPictures(state.messages));
  const offer = useModelThatSees();
  if (blind === null || (attached.length === 0 && !sent)) return null;
  return (
    <div className="context-note pictures-note" data-testid="pictures-note">
      <span role="status">
        {model ?? "This model"} cannot see pictures: it is told what they are called. {blind}
      </span>
      {offer === null ? (
        <button type="button" className="quiet-button" onClick={getModels}>
          Get one that can
        </button>
      ) : (
        <ActionButton
          className="quiet-button"
          data-testid="use-seeing"
          reason={offer.reason}
          onClick={offer.onSelect}
        >
          {offer.name}
        </ActionButton>
      )}
    </div>
  );
}

/** Opens the model of the library that sees pictures; null if there is none. */
function useModelThatSees(): MenuEntry | null {
  const library = useStore((state) => state.library);
  const blind = useModel();
  const model = modelThatSees(library?.models ?? [], blind?.path ?? null);
  const reason = useReason("open");
  return model && { name: `Use ${model.name}`, reason, onSelect: () => openModel(model.path) };
}

/** Says in a temporary chat what becomes of it, and keeps it on request. */
function TemporaryNote() {
  const chat = useStore((state) => state.chat);
  const begun = useStore((state) => state.messages.length > 0);
  const writing = useWritingReason();
  if (!isTemporary(chat) || !begun) return null;
  return (
    <div className="context-note model-note" data-testid="temporary-note">
      <span className="model-note-words">
        Temporary: nothing of this chat is stored. It is gone when you leave it.
      </span>
      <ActionButton
        className="quiet-button"
        data-testid="keep-chat"
        reason={writing}
        onClick={() => keepChat(chat)}
      >
        Keep this chat
      </ActionButton>
    </div>
  );
}

/** Says which model answers too when the reply has come, and lets it be. */
function SecondNote() {
  const name = useStore(({ second, chat }) => (second?.chat === chat ? second?.name : undefined));
  if (name === undefined) return null;
  return (
    <div className="context-note model-note" data-testid="second-note">
      <span className="model-note-words" role="status">
        {name} answers too when this reply has come.
      </span>
      <button type="button" className="quiet-button" onClick={() => setView({ second: null })}>
        Cancel
      </button>
    </div>
  );
}

/** Says which model has answered so far, if another one would answer next. */
function ModelNote() {
  const before = useStore(useShallow(modelBefore));
  const reason = useReason("open");
  if (before === null) return null;
  const name = before.builtIn ? "the demo model" : before.name;
  return (
    <div className="context-note model-note" data-testid="model-note">
      <span className="model-note-words" role="status">
        This chat was answered by {name}.
      </span>
      <ActionButton
        className="quiet-button"
        data-testid="use-again"
        reason={reason}
        onClick={() => openModel(before.path)}
      >
        Use it again
      </ActionButton>
    </div>
  );
}

/** Says when the chat will soon be longer than the model can read, and what can be done. */
function ContextNote() {
  const messages = useStore((state) => state.messages);
  const summarising = useStore(({ chat, summaries }) => chat !== null && summaries[chat] !== undefined);
  const use = contextUse(messages, useModel(), useGeneration());
  if (!use?.nearly || summarising) return null;
  return (
    <SignedNote
      kind="full"
      role="status"
      testId="context-note"
      message={roomLabel(use)}
      hint={`${count(use.used)} of ${count(use.of)} tokens are used. ${contextLabel(use)}`}
      actions={
        <>
          {canBeSummarised(messages) && <SummariseButton primary={use.full} />}
          {use.full && (
            <button type="button" className="button" onClick={newChat}>
              New chat
            </button>
          )}
        </>
      }
    />
  );
}
