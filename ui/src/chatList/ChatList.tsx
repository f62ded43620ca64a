import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { useStore } from "../state/store";
import { listMore } from "./actions";
import { ChatRow } from "./ChatRow";
import { listRows } from "./list";

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
  const rows = useMemo(() => listRows(chats, today), [chats, today]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ("heading" in (rows[index] ?? {}) ? HEADING : ROW),
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : "chat" in row ? row.chat.id : row.heading;
    },
    overscan: NEARBY,
    paddingEnd: 16,
  });
  const shown = list.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - AHEAD) listMore();
  }, [last, rows.length]);

  // Tab leads to one row: that of the open chat, or the first that is drawn.
  const drawn = shown.flatMap(({ index }) => {
    const row = rows[index];
    return row && "chat" in row ? [row.chat.id] : [];
  });
  const stop = current !== null && drawn.includes(current) ? current : drawn[0];

  return (
    <div className="chat-list" data-testid="chat-list" ref={scroller}>
      <div style={{ minHeight: list.getTotalSize() }}>
        <ul style={{ paddingTop: shown[0]?.start }} aria-label="Chats" onKeyDown={moveFocus}>
          {shown.map(({ index, key }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <li key={key}>
                {"heading" in row ? (
                  <h2>{row.heading}</h2>
                ) : (
                  <ChatRow
                    chat={row.chat}
                    current={screen === "chat" && row.chat.id === current}
                    writing={writing.has(row.chat.id)}
                    stop={row.chat.id === stop}
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

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-testid=chat]")];
  const at = rows.indexOf(event.target as HTMLElement);
  if (step === 0 || at < 0) return;
  event.preventDefault();
  rows[at + step]?.focus();
}
