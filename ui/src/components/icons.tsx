const icon = (path: string) =>
  function Icon() {
    return (
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" className="icon">
        <path d={path} />
      </svg>
    );
  };

export const SidebarIcon = icon("M2.5 3.5h11v9h-11zM6.5 3.5v9");
export const NewChatIcon = icon("M8 3v10M3 8h10");
export const ChevronIcon = icon("M5 6.5 8 9.5l3-3");
export const DisclosureIcon = icon("M6.5 5l3 3-3 3");
export const CheckIcon = icon("M3.5 8.5 6.5 11.5 12.5 5");
export const SendIcon = icon("M8 13V3.5M4 7.5l4-4 4 4");
