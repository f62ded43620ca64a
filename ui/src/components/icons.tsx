const PATHS = {
  sidebar: "M2.5 3.5h11v9h-11zM6.5 3.5v9",
  plus: "M8 3v10M3 8h10",
  down: "M5 6.5 8 9.5l3-3",
  right: "M6.5 5l3 3-3 3",
  check: "M3.5 8.5 6.5 11.5 12.5 5",
  up: "M8 13V3.5M4 7.5l4-4 4 4",
};

/** A line drawing beside words, or on a button that has a label of its own. */
export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" className="icon">
      <path d={PATHS[name]} />
    </svg>
  );
}
