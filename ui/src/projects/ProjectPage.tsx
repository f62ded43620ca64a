import { useEffect, useMemo, useState } from "react";
import type { Project, ProjectChat } from "../bridge/bindings";
import { openChat } from "../chat/navigation";
import { repliesLabel } from "../chat/repliesLabel";
import { Dot, titleOf } from "../chatList/ChatRow";
import { useTypedText } from "../frame/typedText";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { count, shortDate } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { useModel, useStore } from "../state/store";
import {
  addFiles,
  changeProject,
  chooseFolder,
  leaveFolder,
  loadProjectChats,
  readFolder,
  removeFile,
} from "./actions";
import { withProjectSettings } from "./list";

/** So many chats are drawn before more are asked for. */
const CHATS_AT_FIRST = 100;

/** A project, where a new chat in it begins: what its chats share, and the chats. */
export function ProjectPage({ project }: { project: Project }) {
  return (
    <div className="project" data-testid="project-page">
      <h1 className="off-screen">{project.name}</h1>
      <div className="project-shared">
        <section aria-labelledby="project-knows">
          <h2 id="project-knows">{t("projects-knows")}</h2>
          <Instructions key={project.id} project={project} />
          <Beginning project={project} />
        </section>
        <Files project={project} />
      </div>
      <Chats key={project.id} id={project.id} />
    </div>
  );
}

/** The instructions as they are typed. */
function Instructions({ project: { id, instructions } }: { project: Project }) {
  const { text, onType, onBlur } = useTypedText(instructions, (text) =>
    changeProject(id, { instructions: text }),
  );
  return (
    <textarea
      className="system-prompt"
      rows={5}
      value={text}
      placeholder={t("projects-knows.placeholder")}
      aria-label={t("projects-knows")}
      data-testid="project-instructions"
      onChange={(event) => onType(event.target.value)}
      onBlur={onBlur}
    />
  );
}

/** How replies are written in a new chat of the project, and the way to change that. */
function Beginning({ project }: { project: Project }) {
  const presets = useStore((state) => state.presets);
  const app = useStore((state) => state.settings);
  const chosen = useStore((state) => state.chatSettings);
  const defaults = useModel()?.defaults ?? null;
  const settings = withProjectSettings(project, presets);
  const label = repliesLabel(settings.generation ?? app, settings, presets, defaults);
  const differs = JSON.stringify(chosen) !== JSON.stringify(settings);
  return (
    <p className="project-beginning soft">
      <span>
        <RichText
          id="projects-begins-with"
          args={{ settings: label }}
          parts={{ settings: (words) => <strong data-testid="project-begins-with">{words}</strong> }}
        />
      </span>
      {differs && (
        <button
          type="button"
          className="quiet-button"
          data-testid="project-keep-settings"
          title={t("projects-keep-settings.title")}
          onClick={() => changeProject(project.id, { settings: chosen })}
        >
          {t("projects-keep-settings")}
        </button>
      )}
    </p>
  );
}

/** The files of a project, which are read or searched for each question. */
function Files({ project }: { project: Project }) {
  const { id, files, folder } = project;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever comes here sees what is in the folder now
  useEffect(() => void readFolder(project), [id, folder]);
  const reading = useStore((state) => state.readingFiles[id]);
  const notes = useStore((state) => state.folderNotes[id]);
  const context = useModel()?.context_length;
  const tokens = files.reduce((all, file) => all + file.tokens, 0);
  const cost =
    context === undefined ? t("projects-tokens", { tokens }) : t("projects-tokens-of", { tokens, context });
  return (
    <section aria-labelledby="project-files">
      <h2 id="project-files">
        {t("projects-files")}
        {files.length > 0 && <span className="soft numbers"> {cost}</span>}
      </h2>
      {files.length === 0 && reading === undefined && (
        <p className="popover-note">{t("projects-files.note")}</p>
      )}
      <ul className="project-files" data-testid="project-files">
        {files.map((file) => (
          <li key={file.id}>
            <Icon name="file" />
            <span className="file-name" title={file.name}>
              {file.name}
            </span>
            {file.trouble === null ? (
              <span className="numbers">{count(file.tokens)}</span>
            ) : (
              <span className="project-file-trouble" title={file.trouble}>
                {file.trouble}
              </span>
            )}
            {!file.in_folder && (
              <button
                type="button"
                className="icon-button"
                aria-label={t("projects-file-remove.label", { name: file.name })}
                title={t("projects-file-remove")}
                data-testid="remove-project-file"
                onClick={() => removeFile(file)}
              >
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
        {reading?.map((name, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may be called the same
          <li key={`reading ${at}`} className="arriving" data-testid="project-file-arriving">
            <Icon name="file" />
            <span className="file-name">{name}</span>
            <span className="soft" role="status">
              {t(at === 0 ? "projects-file-reading" : "projects-file-waiting")}
            </span>
          </li>
        ))}
      </ul>
      <p className="project-add">
        <button
          type="button"
          className="quiet-button"
          data-testid="add-project-files"
          onClick={() => addFiles(id)}
        >
          {t("projects-page-add-files")}
        </button>
        <button
          type="button"
          className="quiet-button"
          data-testid="choose-project-folder"
          onClick={() => chooseFolder(id)}
        >
          {t(folder === null ? "projects-folder-add" : "projects-folder-change")}
        </button>
      </p>
      {folder !== null &&
        notes?.map((note) => (
          <p key={note} className="popover-note">
            {note}
          </p>
        ))}
      {folder !== null && (
        <p className="project-folder soft" data-testid="project-folder">
          <Icon name="folder" />
          <span className="file-name" title={folder}>
            {folder}
          </span>
          <button
            type="button"
            className="quiet-button"
            title={t("projects-folder-leave.title")}
            data-testid="leave-project-folder"
            onClick={() => leaveFolder(id)}
          >
            {t("projects-folder-leave")}
          </button>
        </p>
      )}
    </section>
  );
}

const NONE: ProjectChat[] = [];

/** The chats of a project, with what they say last. */
function Chats({ id }: { id: number }) {
  const chats = useStore((state) => state.projectChats[id]) ?? NONE;
  const changes = useStore((state) => state.listChanges);
  const live = useStore((state) => state.live);
  const writing = useMemo(() => new Set(Object.values(live).map(({ chat }) => chat)), [live]);
  const [shown, setShown] = useState(CHATS_AT_FIRST);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what they say has changed with one of them
  useEffect(() => void loadProjectChats(id), [id, changes]);
  return (
    <section aria-labelledby="project-chats">
      <h2 id="project-chats">{t("projects-page-chats")}</h2>
      {chats.length === 0 && <p className="popover-note">{t("projects-page-chats.none")}</p>}
      <ul className="project-chats" data-testid="project-chats">
        {chats.slice(0, shown).map(({ chat, excerpt }) => (
          <li key={chat.id}>
            <button
              type="button"
              className="project-chat"
              data-testid="project-chat"
              onClick={() => openChat(chat.id)}
            >
              <span className="project-chat-title">
                <span className="file-name">{titleOf(chat)}</span>
                <Dot chat={chat} writing={writing.has(chat.id)} />
                <span className="spring" />
                <span className="soft">
                  {writing.has(chat.id) ? t("projects-chat-writing") : shortDate(chat.updated_at, Date.now())}
                </span>
              </span>
              <span className="file-name soft">{excerpt}</span>
            </button>
          </li>
        ))}
      </ul>
      {chats.length > shown && (
        <button type="button" className="quiet-button" onClick={() => setShown(shown + CHATS_AT_FIRST)}>
          {t("projects-chats-more")}
        </button>
      )}
    </section>
  );
}
