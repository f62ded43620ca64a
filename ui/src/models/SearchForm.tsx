import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { useStore } from "../state/store";
import { changeFilter, endSearch, searchModels } from "./actions";

/** What the Hub is searched for. */
export function SearchForm() {
  const filter = useStore((state) => state.filter);
  const searching = useStore((state) => state.found !== null);
  return (
    <search className="search-place">
      <form
        className="search-field"
        onSubmit={(event) => {
          event.preventDefault();
          searchModels();
        }}
      >
        <button
          type="submit"
          className="search-now"
          aria-label={t("models-search")}
          title={t("models-search")}
          data-testid="search-now"
        >
          <Icon name="search" />
        </button>
        <input
          type="search"
          aria-label={t("models-search.hub")}
          placeholder={t("models-search.hub")}
          autoComplete="off"
          spellCheck={false}
          value={filter.text}
          data-escape={filter.text !== "" || searching || undefined}
          data-testid="search"
          onChange={(event) => changeFilter({ text: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || (filter.text === "" && !searching)) return;
            event.preventDefault();
            event.stopPropagation();
            endSearch();
          }}
        />
      </form>
    </search>
  );
}
