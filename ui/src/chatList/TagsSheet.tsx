import { useState } from "react";
import type { ChatSummary } from "../bridge/bindings";
import { t } from "../language/text";
import { commas } from "../primitives/format";
import { Sheet } from "../primitives/Sheet";
import { knownChat } from "../state/server";
import { setView, useStore } from "../state/store";
import { tagChat } from "./actions";
import { titleOf } from "./ChatRow";
import { tagsFrom } from "./list";

/** Chooses the tags of a chat. */
export function TagsSheet() {
  const chat = useStore((state) => knownChat(state, state.tagging));
  return chat ? <TagsForm key={chat.id} chat={chat} /> : null;
}

function TagsForm({ chat }: { chat: ChatSummary }) {
  const known = useStore((state) => state.tags);
  const [text, setText] = useState(commas(chat.tags));
  const chosen = tagsFrom(text);
  const has = (name: string) => chosen.some((tag) => tag.toLowerCase() === name.toLowerCase());
  const toggle = (name: string) =>
    setText(
      commas(
        has(name) ? chosen.filter((tag) => tag.toLowerCase() !== name.toLowerCase()) : [...chosen, name],
      ),
    );
  const close = () => setView({ tagging: null });
  return (
    <Sheet
      open
      onClose={close}
      title={t("chats-tags-sheet", { title: titleOf(chat) })}
      testId="tags-sheet"
      foot={
        <>
          <span className="spring" />
          <button type="button" className="button" onClick={close}>
            {t("chats-tags-cancel")}
          </button>
          <button type="submit" form="tags-form" className="button primary" data-testid="keep-tags">
            {t("chats-tags-keep")}
          </button>
        </>
      }
    >
      <form
        id="tags-form"
        className="tags-form field"
        onSubmit={(event) => {
          event.preventDefault();
          tagChat(chat.id, chosen);
        }}
      >
        <label htmlFor="chat-tags">{t("chats-tags-field")}</label>
        <input
          id="chat-tags"
          type="text"
          autoComplete="off"
          spellCheck={false}
          value={text}
          placeholder={t("chats-tags-field.placeholder")}
          data-testid="tags"
          onChange={(event) => setText(event.target.value)}
        />
        {known.length > 0 && (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset draws a frame
          <div className="known-tags" role="group" aria-label={t("chats-tags-known")}>
            {known.map(({ name }) => (
              <button
                key={name}
                type="button"
                className="tag"
                aria-pressed={has(name)}
                onClick={() => toggle(name)}
              >
                {name}
              </button>
            ))}
          </div>
        )}
      </form>
    </Sheet>
  );
}
