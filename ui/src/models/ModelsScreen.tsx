import { useEffect } from "react";
import { loadHistory } from "../benchmarks/actions";
import { Screen } from "../frame/Screen";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { setView, useStore } from "../state/store";
import { about, chooseAndAdd, getModels, judgeAgain, loadCatalogue } from "./actions";
import { ContextControl } from "./ContextControl";
import { Jobs } from "./Jobs";
import { Storage } from "./LibraryPlace";
import { LocalModels } from "./LocalModels";
import { RemoteDetails } from "./RemoteDetails";
import { RemoteModels } from "./RemoteModels";
import { SearchForm } from "./SearchForm";

/** Everything about the models: those that are here, those on their way, and those to get. */
export function ModelsScreen() {
  const searching = useStore((state) => state.found !== null);
  const measured = useStore((state) => state.library?.models.map(({ tuning }) => tuning?.measured_at).join());
  const benchmarks = useStore(
    (state) =>
      state.library?.jobs.filter(({ kind, stage }) => kind === "benchmark" && stage.stage === "done").length,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was measured anew tells of the other models too
  useEffect(() => {
    loadHistory();
    judgeAgain();
  }, [measured, benchmarks]);
  const remote = <RemoteModels key="remote" />;
  return (
    <Screen
      title={t("models-title")}
      testId="models-screen"
      // Where something on the screen was asked for, the focus goes there.
      takesFocus={useStore((state) => state.spotlight) === null}
      tools={
        <>
          <SearchForm />
          <ContextControl />
          <More />
        </>
      }
    >
      <div className="screen-column models-column">
        {searching && remote}
        <LocalModels key="local" heading={t("models-here")} />
        <Jobs key="jobs" />
        {!searching && remote}
        <Storage key="storage" />
      </div>
      <RemoteDetails />
    </Screen>
  );
}

function More() {
  const searching = useStore((state) => state.found !== null);
  return (
    <MenuButton
      label={t("models-more")}
      testId="models-more"
      entries={[
        { name: t("models-add-folder"), reason: null, onSelect: chooseAndAdd },
        {
          name: t("models-check-updates"),
          reason: searching ? t("models-search-shown") : null,
          onSelect: () => loadCatalogue(true),
        },
        { name: t("models-get-models"), reason: null, onSelect: getModels },
        {
          name: t("models-storage"),
          reason: null,
          onSelect: () => setView({ spotlight: about.token }),
        },
      ]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}
