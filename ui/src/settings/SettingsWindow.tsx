import { type ComponentType, useRef } from "react";
import type { SettingsPage } from "../bridge/bindings";
import { useLook } from "../frame/useLook";
import { t } from "../language/text";
import { LinkAddress } from "../markdown/Link";
import { Icon } from "../primitives/icons";
import { MAC } from "../primitives/platform";
import { PromptsPage } from "../prompts/PromptsPage";
import { setView, useStore } from "../state/store";
import { AppearancePage } from "./AppearancePage";
import { changePreferences } from "./actions";
import { DataPage } from "./DataPage";
import { DiagnosticsPage } from "./DiagnosticsPage";
import { GeneralPage } from "./GeneralPage";
import { KeyboardPage } from "./KeyboardPage";
import { LocalApiPage } from "./LocalApiPage";
import { ModelsPage } from "./ModelsPage";
import { NoticesPage } from "./NoticesPage";
import { OtherMacsPage } from "./OtherMacsPage";
import { PAGES, pageName } from "./pages";
import { RepliesPage } from "./RepliesPage";
import { ToolsPage } from "./ToolsPage";
import { useSettingsKeys } from "./useSettingsKeys";

const CONTENT: Record<SettingsPage, ComponentType> = {
  general: GeneralPage,
  appearance: AppearancePage,
  replies: RepliesPage,
  prompts: PromptsPage,
  models: ModelsPage,
  tools: ToolsPage,
  local_api: LocalApiPage,
  other_macs: OtherMacsPage,
  data: DataPage,
  keyboard: KeyboardPage,
  diagnostics: DiagnosticsPage,
  notices: NoticesPage,
};

/** The window of the settings. Which page is open is kept. */
export function SettingsWindow() {
  const page = useStore((state) => state.preferences.settings_page);
  const Content = CONTENT[page];
  useSettingsKeys();
  useLook();
  return (
    <div className={MAC ? "settings-window mac" : "settings-window"} data-testid="settings-window">
      <Pages page={page} />
      <Content key={page} />
      <LinkAddress />
    </div>
  );
}

/** The pages; arrow keys go from one to the next. */
function Pages({ page }: { page: SettingsPage }) {
  const list = useRef<HTMLUListElement>(null);
  const at = PAGES.findIndex(({ id }) => id === page);
  const open = (index: number) => {
    const found = PAGES[index];
    if (!found) return;
    setView({ settingsError: null });
    changePreferences({ settings_page: found.id });
    list.current?.querySelectorAll("button")[index]?.focus();
  };
  return (
    <nav className="settings-pages" aria-label={t("settings-window")} data-tauri-drag-region>
      <ul
        ref={list}
        onKeyDown={(event) => {
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (step === 0) return;
          event.preventDefault();
          open(at + step);
        }}
      >
        {PAGES.map(({ id, icon }, index) => (
          <li key={id}>
            <button
              type="button"
              className="sidebar-row"
              aria-current={id === page ? "page" : undefined}
              tabIndex={id === page ? 0 : -1}
              data-testid={`open-${id}`}
              onClick={() => open(index)}
            >
              <Icon name={icon} />
              <span className="sidebar-words">{pageName(id)}</span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
