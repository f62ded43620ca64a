import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { createProject, loadProjectChats, seenProject } from "../projects/actions";
import { ProjectRow } from "../projects/ProjectRow";
import { useStore } from "../state/store";
import { listMore } from "./actions";
import { ChatRow } from "./ChatRow";
import { type ListRow, listRows, projectRows } from "./list";

/** Pixels of a row, and of a heading. */
const ROW = 30;
const HEADING = 36;
/** Rows that are drawn above and below those in view. */
const NEARBY = 12;
/** So many rows before its end more of the list is asked for. */
const AHEAD = 60;

/** The list of chats. Only what is in view is drawn, and a little around it. */
export function ChatList() {
  const screen = useStore((state) => state.screen);
  const chats = useStore((state) => state.chats);
  const current = useStore((state) => state.chat);
  const live = useStore((state) => state.live);
  const writing = new Set(Object.values(live).map((reply) => reply.chat));
  const scroller = useRef<HTMLDivElement>(null);
  const today = new Date().setHours(0, 0, 0, 0);
  const tag = useStore((state) => state.tag);
  const projects = useStore((state) => state.projects);
  const openProjects = useStore((state) => state.preferences.open_projects);
  const projectChats = useStore((state) => state.projectChats);
  const shownId = useStore((state) => seenProject(state)?.id);
  const takes = useStore((state) => state.dragged?.to?.project === null);
  const rows = useMemo(
    // Those with a tag are listed wherever they are.
    () => listRows(chats, today, tag === null ? projectRows(projects, openProjects, projectChats) : []),
    [chats, today, tag, projects, openProjects, projectChats],
  );
  const unread = openProjects.find(
    (open) => projectChats[open] === undefined && projects.some(({ id }) => id === open),
  );
  useEffect(() => {
    if (unread !== undefined) loadProjectChats(unread);
  }, [unread]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ("heading" in (rows[index] ?? {}) ? HEADING : ROW),
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
    overscan: NEARBY,
    paddingEnd: 16,
  });
  const naming = useStore((state) => state.renamingProject);
  const named = rows.findIndex((row) => "project" in row && row.project.id === naming);
  // A row that is not in view is not drawn, and cannot be named.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it comes into view once
  useEffect(() => {
    if (named >= 0) list.scrollToIndex(named);
  }, [naming, named >= 0]);
  const shown = list.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - AHEAD) listMore();
  }, [last, rows.length]);

  // Tab leads to one row: that of what is shown, or the first that is drawn.
  const drawn = shown.flatMap(({ index }) => {
    const row = rows[index];
    return row && !("heading" in row) ? [keyOf(row)] : [];
  });
  const here = current !== null ? current : shownId !== undefined ? `project ${shownId}` : null;
  const stop = here !== null && drawn.includes(here) ? here : drawn[0];

  return (
    <div
      className={takes ? "chat-list takes" : "chat-list"}
      data-testid="chat-list"
      data-drop="list"
      ref={scroller}
    >
      <div style={{ minHeight: list.getTotalSize() }}>
        <ul style={{ paddingTop: shown[0]?.start }} aria-label={t("chats-list")} onKeyDown={moveFocus}>
          {shown.map(({ index, key }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <li key={key} data-drop={projectOf(row)}>
                {"heading" in row ? (
                  <h2 className={row.ofProjects ? "projects-heading" : undefined}>
                    {row.heading}
                    {row.ofProjects && <NewProject />}
                  </h2>
                ) : "project" in row ? (
                  <ProjectRow
                    project={row.project}
                    open={row.open}
                    current={row.project.id === shownId}
                    stop={keyOf(row) === stop}
                  />
                ) : (
                  <ChatRow
                    chat={row.chat}
                    current={screen === "chat" && row.chat.id === current}
                    writing={writing.has(row.chat.id)}
                    stop={row.chat.id === stop}
                    nested={row.nested}
                  />
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}

/** What tells a row from the others. */
const keyOf = (row: ListRow): number | string =>
  "chat" in row ? row.chat.id : "project" in row ? `project ${row.project.id}` : row.heading;

/** The project that a chat goes into which is released over a row. */
function projectOf(row: ListRow): number | null {
  if ("project" in row) return row.project.id;
  return "chat" in row && row.nested ? row.chat.project : null;
}

function NewProject() {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={t("chats-new-project")}
      title={t("chats-new-project")}
      data-testid="new-project"
      onClick={createProject}
    >
      <Icon name="plus" />
    </button>
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const rows = [
    ...event.currentTarget.querySelectorAll<HTMLElement>("[data-testid=chat], [data-testid=project]"),
  ];
  const at = rows.indexOf(event.target as HTMLElement);
  if (step === 0 || at < 0) return;
  event.preventDefault();
  rows[at + step]?.focus();
}
