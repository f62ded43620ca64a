import { type ClipboardEvent, type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Attachment, MessagePicture } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { SignedNote } from "../frame/SignedNote";
import { t } from "../language/text";
import { getModels } from "../models/actions";
import { openModel } from "../models/choose";
import { otherModels } from "../models/models";
import { mayAsk } from "../offers/offers";
import { ActionButton } from "../primitives/ActionButton";
import { GrowingField } from "../primitives/GrowingField";
import { Icon } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { usePromptList } from "../prompts/usePromptList";
import { modelBefore, restingReply, shownProject, streamingReply } from "../state/server";
import {
  restingReason,
  setView,
  summaryReason,
  useModel,
  useModelName,
  useReason,
  useStore,
  useWritingReason,
} from "../state/store";
import { endResting, send, stop } from "./actions";
import { attachPasted, chooseAttachments, choosePictures, detach, hide, setDetail } from "./attaching";
import { contextLabel, roomLabel } from "./context";
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
import { ToolsControl } from "./ToolsControl";
import { useContextUse } from "./useContextUse";
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
      ? t("chat-cannot-send.reading")
      : !/\S/.test(text) && long.files.length > 0
        ? t("chat-cannot-send.ask")
        : !/\S/.test(text) && files.length + pictures.length === 0
          ? t("chat-cannot-send.empty")
          : null;
  const summarising = useStore(summaryReason);
  const resting = useStore(restingReply);
  const rests = useStore(restingReason);
  const reason = cannotAsk ?? rests ?? summarising ?? cannotSend;

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
            <button type="button" className="button" onClick={() => setView({ actionError: null })}>
              {t("chat-dismiss")}
            </button>
          }
        />
      )}
      <TemporaryNote />
      <ModelNote />
      <SecondNote />
      {rests !== null && /\S/.test(text) && (
        <p className="context-note" role="status" data-testid="resting-note">
          {rests}
        </p>
      )}
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
          placeholder={
            project
              ? t("chat-composer.project", { project })
              : model
                ? t("chat-composer.model", { model })
                : t("chat-composer")
          }
          aria-label={t("chat-composer")}
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
          <ToolsControl />
          <span className="spring" />
          {!streaming && reason === null && <AskTwoButton />}
          {!streaming && (
            <ActionButton
              type="submit"
              className="send"
              data-testid="send"
              aria-label={t("chat-send")}
              title={t("chat-send.title")}
              reason={reason}
            >
              <Icon name="up" />
            </ActionButton>
          )}
          {(streaming || resting) && (
            <button
              type="button"
              className="stop"
              data-testid="stop"
              aria-label={t("chat-stop")}
              title={t("chat-stop.title")}
              onClick={resting && !streaming ? () => endResting(resting.id) : stop}
            >
              <span className="stop-square" />
            </button>
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
    { name: t("chat-attach.files"), reason: null, onSelect: chooseAttachments },
    { name: t("chat-attach.pictures"), reason: blind, onSelect: choosePictures },
  ];
  const hasServers = useStore(mayAsk);
  if (hasServers)
    entries.push({
      name: t("offers-attach"),
      reason: null,
      onSelect: () => setView({ choosingResource: true }),
    });
  const offer = useModelThatSees();
  if (blind !== null && offer !== null) {
    const { model, reason, onSelect } = offer;
    entries.push({ name: t("chat-attach.seeing", { model }), reason, onSelect });
  } else if (blind !== null) entries.push({ name: t("chat-attach.get"), reason: null, onSelect: getModels });
  return (
    <MenuButton label={t("chat-attach")} testId="attach" entries={entries} side="top" align="start">
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
    name: t("chat-ask-two.too", { model: name }),
    reason,
    onSelect: () => askTwoModels(path, name),
  }));
  return (
    <MenuButton label={t("chat-ask-two")} testId="ask-two" entries={entries} side="top">
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
        {model === null
          ? t("chat-blind.nameless", { reason: blind })
          : t("chat-blind", { model, reason: blind })}
      </span>
      {offer === null ? (
        <button type="button" className="quiet-button" onClick={getModels}>
          {t("chat-blind.get")}
        </button>
      ) : (
        <ActionButton
          className="quiet-button"
          data-testid="use-seeing"
          reason={offer.reason}
          onClick={offer.onSelect}
        >
          {t("chat-blind.use", { model: offer.model })}
        </ActionButton>
      )}
    </div>
  );
}

/** The model of the library that sees pictures, and what opens it; null if there is none. */
function useModelThatSees(): { model: string; reason: string | null; onSelect: () => void } | null {
  const library = useStore((state) => state.library);
  const blind = useModel();
  const model = modelThatSees(library?.models ?? [], blind?.path ?? null);
  const reason = useReason("open");
  return model && { model: model.name, reason, onSelect: () => openModel(model.path) };
}

/** Says in a temporary chat what becomes of it, and keeps it on request. */
function TemporaryNote() {
  const chat = useStore((state) => state.chat);
  const begun = useStore((state) => state.messages.length > 0);
  const writing = useWritingReason();
  if (!isTemporary(chat) || !begun) return null;
  return (
    <div className="context-note model-note" data-testid="temporary-note">
      <span className="model-note-words">{t("chat-temporary-note")}</span>
      <ActionButton
        className="quiet-button"
        data-testid="keep-chat"
        reason={writing}
        onClick={() => keepChat(chat)}
      >
        {t("chat-temporary-note.keep")}
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
        {t("chat-second", { model: name })}
      </span>
      <button type="button" className="quiet-button" onClick={() => setView({ second: null })}>
        {t("chat-second.cancel")}
      </button>
    </div>
  );
}

/** Says which model has answered so far, if another one would answer next. */
function ModelNote() {
  const before = useStore(useShallow(modelBefore));
  const reason = useReason("open");
  if (before === null) return null;
  return (
    <div className="context-note model-note" data-testid="model-note">
      <span className="model-note-words" role="status">
        {before.builtIn ? t("chat-answered-by.demo") : t("chat-answered-by", { model: before.name })}
      </span>
      <ActionButton
        className="quiet-button"
        data-testid="use-again"
        reason={reason}
        onClick={() => openModel(before.path)}
      >
        {t("chat-answered-by.again")}
      </ActionButton>
    </div>
  );
}

/** Says when the chat will soon be longer than the model can read, and what can be done. */
function ContextNote() {
  const messages = useStore((state) => state.messages);
  const summarising = useStore(({ chat, summaries }) => chat !== null && summaries[chat] !== undefined);
  const use = useContextUse();
  if (!use?.nearly || summarising) return null;
  return (
    <SignedNote
      kind="full"
      role="status"
      testId="context-note"
      message={roomLabel(use)}
      hint={t(use.about ? "chat-tokens-used.about" : "chat-tokens-used", {
        used: use.used,
        of: use.of,
        more: contextLabel(use),
      })}
      actions={
        <>
          {canBeSummarised(messages) && <SummariseButton primary={use.full} />}
          {use.full && (
            <button type="button" className="button" onClick={newChat}>
              {t("chat-new")}
            </button>
          )}
        </>
      }
    />
  );
}
