import type { OwnSource, ToolInfo, ToolsState } from "../bridge/bindings";
import { t } from "../language/text";

/** What people call something, and what it does. */
interface Words {
  name: string;
  words: string;
}

/** What a chat switches on of the app's own, in words. */
export function ownSource({ id, tools: [tool] }: OwnSource): Words {
  switch (id) {
    case "calculator":
      return { name: t("settings-tool-calculator"), words: t("settings-tool-calculator.words") };
    case "current_date":
      return { name: t("settings-tool-date"), words: t("settings-tool-date.words") };
    case "read_page":
      return { name: t("settings-tool-pages"), words: t("settings-tool-pages.words") };
    case "search_web":
      return { name: t("settings-tool-search"), words: t("settings-tool-search.words") };
    case "read_files":
      return { name: t("settings-tool-read-files"), words: t("settings-tool-read-files.words") };
    case "write_files":
      return { name: t("settings-tool-write-files"), words: t("settings-tool-write-files.words") };
    default:
      return { name: tool?.title ?? id, words: tool?.description ?? "" };
  }
}

/** What one of the app's own tools is called, where a call of it is told of. */
export function ownTool({ name, title }: Pick<ToolInfo, "name" | "title">): string {
  switch (name) {
    case "calculator":
      return t("settings-tool-calculator");
    case "current_date":
      return t("settings-tool-date");
    case "read_page":
      return t("settings-own-tool.read-page");
    case "search_web":
      return t("settings-own-tool.search-web");
    case "list_files":
      return t("settings-own-tool.list-files");
    case "read_file":
      return t("settings-own-tool.read-file");
    case "search_files":
      return t("settings-own-tool.search-files");
    case "write_file":
      return t("settings-own-tool.write-file");
    case "edit_file":
      return t("settings-own-tool.edit-file");
    default:
      return title ?? name;
  }
}

/** The app's own tools, each by itself. */
export const ownTools = ({ built_in }: Pick<ToolsState, "built_in">): ToolInfo[] =>
  built_in.flatMap(({ tools }) => tools);

/** What one of the app's own sources waits for before models get its tools; null where that is nothing. */
export function ownLack(
  id: string,
  { folders, search }: Pick<ToolsState, "folders" | "search">,
): string | null {
  switch (id) {
    case "search_web":
      return search === "" ? t("settings-own-lack.search") : null;
    case "read_files":
    case "write_files":
      return folders.length === 0 ? t("settings-own-lack.folder") : null;
    default:
      return null;
  }
}
