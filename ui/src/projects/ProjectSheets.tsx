import { useState } from "react";
import type { ChatSummary, Project } from "../bridge/bindings";
import { titleOf } from "../chatList/ChatRow";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { radios } from "../primitives/radios";
import { Sheet } from "../primitives/Sheet";
import { knownChat } from "../state/server";
import { setView, useStore } from "../state/store";
import { deleteProject, moveChat, moveToNewProject } from "./actions";

/** What is asked about projects, over the window. */
export function ProjectSheets() {
  const chat = useStore((state) => knownChat(state, state.moving));
  const deleted = useStore((state) => state.projects.find(({ id }) => id === state.deletingProject));
  return (
    <>
      {chat && <MoveSheet key={`move ${chat.id}`} chat={chat} />}
      {deleted && <DeleteSheet key={`delete ${deleted.id}`} project={deleted} />}
    </>
  );
}

/** Chooses the project of a chat. */
function MoveSheet({ chat }: { chat: ChatSummary }) {
  const projects = useStore((state) => state.projects);
  const [chosen, setChosen] = useState(chat.project);
  const [name, setName] = useState("");
  const choices = [
    { id: null, name: t("projects-move-none") },
    ...projects.map(({ id, name }) => ({ id, name })),
  ];
  const check = (index: number) => setChosen(choices[index]?.id ?? null);
  const { group, radio } = radios(
    t("projects-move-choices"),
    choices.findIndex(({ id }) => id === chosen),
    check,
  );
  const close = () => setView({ moving: null });
  const isNew = name.trim() !== "";
  return (
    <Sheet
      open
      onClose={close}
      title={t("projects-move-sheet", { title: titleOf(chat) })}
      testId="move-sheet"
      foot={
        <>
          <span className="spring" />
          <button type="button" className="button" onClick={close}>
            {t("projects-move-cancel")}
          </button>
          <ActionButton
            type="submit"
            form="move-form"
            className="button primary"
            data-testid="move"
            reason={!isNew && chosen === chat.project ? t("projects-move.there") : null}
          >
            {t("projects-move")}
          </ActionButton>
        </>
      }
    >
      <form
        id="move-form"
        className="tags-form field"
        onSubmit={(event) => {
          event.preventDefault();
          if (isNew) moveToNewProject(chat, name.trim());
          else if (chosen !== chat.project) moveChat(chat, chosen);
        }}
      >
        <div className="choices" {...group}>
          {choices.map(({ id, name }, index) => (
            <button
              {...radio(index)}
              key={id}
              className="choice tag-choice"
              data-testid="move-choice"
              onClick={() => check(index)}
            >
              <span className="tag-name">{name}</span>
              <span />
              {id === chosen && !isNew && <Icon name="check" />}
            </button>
          ))}
        </div>
        <label htmlFor="new-project-name">{t("projects-move-new")}</label>
        <input
          id="new-project-name"
          type="text"
          autoComplete="off"
          value={name}
          placeholder={t("projects-move-new.placeholder")}
          data-testid="new-project-name"
          onChange={(event) => setName(event.target.value)}
        />
      </form>
    </Sheet>
  );
}

/** Asks what becomes of the chats of a project that is to be deleted. */
function DeleteSheet({ project: { id, name, chats, files } }: { project: Project }) {
  const close = () => setView({ deletingProject: null });
  return (
    <Sheet
      open
      onClose={close}
      title={t("projects-delete-sheet", { name })}
      testId="delete-project-sheet"
      foot={
        <>
          <button
            type="button"
            className="button"
            data-testid="delete-project-and-chats"
            onClick={() => deleteProject(id, true)}
          >
            {t("projects-delete-with-chats", { chats })}
          </button>
          <span className="spring" />
          <button type="button" className="button" onClick={close}>
            {t("projects-delete-cancel")}
          </button>
          <button
            type="button"
            className="button primary"
            data-testid="delete-project"
            onClick={() => deleteProject(id, false)}
          >
            {t("projects-delete-keep-chats")}
          </button>
        </>
      }
    >
      <p>{t("projects-delete-words", { chats, files: files.length })}</p>
    </Sheet>
  );
}
