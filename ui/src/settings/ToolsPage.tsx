import { t } from "../language/text";
import { BuiltInTools } from "./BuiltInTools";
import { Page } from "./Page";
import { SearchService } from "./SearchService";
import { StopAllTools } from "./StopAllTools";
import { ToolFolders } from "./ToolFolders";
import { ToolPermissions } from "./ToolPermissions";
import { ToolServers } from "./ToolServers";
import { ToolServersImport } from "./ToolServersImport";

/** What models may use beside writing, and what the person has allowed. */
export function ToolsPage() {
  return (
    <Page title={t("settings-tools")} testId="settings-tools">
      <p className="part-note">{t("settings-tools.note")}</p>
      <BuiltInTools />
      <SearchService />
      <ToolFolders />
      <ToolServers />
      <ToolServersImport />
      <ToolPermissions />
      <StopAllTools />
    </Page>
  );
}
