import { useState } from "react";
import type { ChatSummary, Project } from "../bridge/bindings";
import { titleOf } from "../chatList/ChatRow";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { radios } from "../primitives/radios";
import { Sheet } from "../primitives/Sheet";
import { knownChat } from "../state/server";
import { setView, useStore } from "../state/store";
import { chatsLabel, deleteProject, moveChat, moveToNewProject } from "./actions";

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
  const choices = [{ id: null, name: "No project" }, ...projects.map(({ id, name }) => ({ id, name }))];
  const check = (index: number) => setChosen(choices[index]?.id ?? null);
  const { group, radio } = radios(
    "Project",
    choices.findIndex(({ id }) => id === chosen),
    check,
  );
  const close = () => setView({ moving: null });
  const isNew = name.trim() !== "";
  return (
    <Sheet
      open
      onClose={close}
      title={`Move “${titleOf(chat)}”`}
      testId="move-sheet"
      foot={
        <>
          <span className="spring" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <ActionButton
            type="submit"
            form="move-form"
            className="button primary"
            data-testid="move"
            reason={!isNew && chosen === chat.project ? "The chat is there already." : null}
          >
            Move
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
        <label htmlFor="new-project-name">Or to a new project</label>
        <input
          id="new-project-name"
          type="text"
          autoComplete="off"
          value={name}
          placeholder="Name of the new project"
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
  const its = chats === 1 ? "its chat" : `its ${chatsLabel(chats)}`;
  const fileWords = files.length === 0 ? "" : ` and ${files.length === 1 ? "its file" : "its files"}`;
  return (
    <Sheet
      open
      onClose={close}
      title={`Delete “${name}”?`}
      testId="delete-project-sheet"
      foot={
        <>
          <button
            type="button"
            className="button"
            data-testid="delete-project-and-chats"
            onClick={() => deleteProject(id, true)}
          >
            Delete with {its}
          </button>
          <span className="spring" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button
            type="button"
            className="button primary"
            data-testid="delete-project"
            onClick={() => deleteProject(id, false)}
          >
            Keep the chats
          </button>
        </>
      }
    >
      <p>
        The project{fileWords} will be deleted. {chats === 1 ? "Its chat goes" : "Its chats go"} back to the
        list, or {chats === 1 ? "is" : "are"} deleted with it. All of it can be brought back until you quit.
      </p>
    </Sheet>
  );
}
