const PATHS = {
  sidebar: "M2.5 3.5h11v9h-11zM6.5 3.5v9",
  inspector: "M2.5 3.5h11v9h-11zM9.5 3.5v9",
  columns: "M2.5 3.5h11v9h-11zM8 3.5v9",
  write: "M3 13l.6-2.7 7.2-7.2a1.35 1.35 0 0 1 1.9 0l.2.2a1.35 1.35 0 0 1 0 1.9l-7.2 7.2zM9.6 4.3l2.1 2.1",
  sliders:
    "M2.5 5h5M10.5 5h3M2.5 11h3M8.5 11h5M9 3.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM7 9.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
  plus: "M8 3v10M3 8h10",
  down: "M5 6.5 8 9.5l3-3",
  left: "M9.5 5l-3 3 3 3",
  right: "M6.5 5l3 3-3 3",
  check: "M3.5 8.5 6.5 11.5 12.5 5",
  up: "M8 13V3.5M4 7.5l4-4 4 4",
  arrowDown: "M8 3v9.5M4 8.5l4 4 4-4",
  more: "M3.25 8h.5M7.75 8h.5M12.25 8h.5",
  close: "M4 4l8 8M12 4l-8 8",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2",
  pin: "M5.5 2.5h5M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5",
  tag: "M2.5 2.5h5.5l5.5 5.5-5.5 5.5-5.5-5.5zM5.2 5.2h.1",
  attach: "M10.5 4.5v6a2.5 2.5 0 0 1-5 0v-7a1.5 1.5 0 0 1 3 0v6.5",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  folder: "M2.5 3.5h4l1.5 2h5.5v7h-11z",
  picture: "M2.5 3.5h11v9h-11zM2.5 10.5l3.5-3 2.5 2 2-1.5 3 2.5M10.5 6.25h.1",
  deleted: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.75 9h6.5l.75-9M6.75 7.5v3M9.25 7.5v3",
  earlier: "M5 9.5 8 6.5l3 3",
  sun: "M8 10.75a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5zM8 1.75v1.5M8 12.75v1.5M1.75 8h1.5M12.75 8h1.5M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1",
  bubble: "M2.5 3.5h11v7.5h-5l-3 2.5v-2.5h-3z",
  memory: "M2.5 3.5h11v9h-11zM5 10h3M5 6h.5M10.5 10h.5",
  wrench:
    "M13.2 4.9a3.4 3.4 0 0 1-4.5 4.2l-4.1 4.1a1.27 1.27 0 0 1-1.8-1.8l4.1-4.1a3.4 3.4 0 0 1 4.2-4.5L9 4.9 11.1 7z",
  calculator: "M3.5 2.5h9v11h-9zM5.5 5h5M5.5 8h.5M8 8h.5M10.25 8h.5M5.5 10.75h.5M8 10.75h.5M10.25 10.75h.5",
  globe:
    "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM2.5 8h11M8 2.5c1.7 1.5 2.5 3.3 2.5 5.5s-.8 4-2.5 5.5c-1.7-1.5-2.5-3.3-2.5-5.5s.8-4 2.5-5.5z",
  plug: "M6 2.5v3M10 2.5v3M4 5.5h8v2a4 4 0 0 1-8 0zM8 11.5v2.5",
  link: "M6.8 9.2l2.4-2.4M7.4 5l1.4-1.4a2.6 2.6 0 0 1 3.6 3.6L11 8.6M8.6 11l-1.4 1.4a2.6 2.6 0 0 1-3.6-3.6L5 7.4",
  laptop: "M3.5 4h9v6.5h-9zM2 12.5h12",
  desktop: "M3 5.5h10v6H3zM5.5 9.5h.1M8 9.5h.1",
  lock: "M3.75 7.25h8.5v6h-8.5zM5.5 7.25v-2a2.5 2.5 0 0 1 5 0v2",
  keyboard: "M2 4h12v8H2zM4.5 6.75h.5M7 6.75h.5M9.5 6.75h.5M11.5 6.75h.5M5 9.5h6",
  activity: "M2 8h2.5l1.75-4 3 8.5 1.75-4.5H14",
  scales: "M8 2.5v11M5 13.5h6M3 4.5h10M3 4.5 1.5 9h3zM13 4.5 11.5 9h3z",
  warn: "M8 2.8 14 13H2zM8 6.6v3M8 11.2v.1",
  disk: "M3 4.5h10v7H3zM5.2 9.2h.1M7.5 9.2h3.3",
  clock: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 5v3.2l2 1.3",
  cloudOff: "M4.6 12a2.6 2.6 0 0 1-.3-5.2 3.8 3.8 0 0 1 7.3 0A2.6 2.6 0 0 1 11.4 12zM2.5 2.5l11 11",
  sound: "M2.5 6.25h2.5L8 3.5v9L5 9.75H2.5zM10.5 6a2.8 2.8 0 0 1 0 4M12.3 4.2a5.4 5.4 0 0 1 0 7.6",
  book: "M3 3.5h4a1 1 0 0 1 1 1v8.5a1.5 1.5 0 0 0-1.5-1H3zM13 3.5H9a1 1 0 0 0-1 1v8.5a1.5 1.5 0 0 1 1.5-1H13z",
};

export type IconName = keyof typeof PATHS;

/** A line drawing beside words, or on a button that has a label of its own. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" className={`icon icon-${name}`}>
      <path d={PATHS[name]} />
    </svg>
  );
}
