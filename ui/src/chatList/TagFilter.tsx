import { useState } from "react";
import { t } from "../language/text";
import { count } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { useStore } from "../state/store";
import { listChats } from "./actions";

/** Lists only the chats with a tag; there once a chat has one. */
export function TagFilter() {
  const tags = useStore((state) => state.tags);
  const tag = useStore((state) => state.tag);
  const [open, setOpen] = useState(false);
  if (tags.length === 0 && tag === null) return null;
  const choices = [
    { name: null, words: t("chats-tag-filter-all"), chats: null },
    ...tags.map(({ name, chats }) => ({ name, words: name, chats })),
  ];
  const check = (index: number) => listChats(choices[index]?.name ?? null);
  const { group, radio } = radios(
    t("chats-tag-filter"),
    choices.findIndex(({ name }) => name === tag),
    check,
  );
  return (
    <PopoverButton
      label={
        <>
          <Icon name="tag" />
          <span className="tag-name">{tag ?? t("chats-tag-filter-all")}</span>
        </>
      }
      title={t("chats-tag-filter")}
      testId="tag-filter"
      side="bottom"
      className="control tag-filter"
      popupClassName="tags"
      open={open}
      onOpenChange={setOpen}
    >
      <div className="choices" {...group}>
        {choices.map(({ name, words, chats }, index) => (
          <button
            {...radio(index)}
            key={words}
            className="choice tag-choice"
            data-testid="tag-choice"
            onClick={() => {
              check(index);
              setOpen(false);
            }}
          >
            <span className="tag-name">{words}</span>
            <span className="choice-words numbers">{chats !== null && count(chats)}</span>
            {name === tag && <Icon name="check" />}
          </button>
        ))}
      </div>
    </PopoverButton>
  );
}
