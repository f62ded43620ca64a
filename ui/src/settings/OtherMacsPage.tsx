import { useEffect } from "react";
import { shell } from "../bridge/bridge";
import { t } from "../language/text";
import { LendThisMac } from "../macs/LendThisMac";
import { PairedMacs } from "../macs/PairedMacs";
import { PairMac } from "../macs/PairMac";
import { SpreadModels } from "../macs/SpreadModels";
import { useStore } from "../state/store";
import { attempt } from "./actions";
import { Page } from "./Page";

/** Other Macs: those that this one uses, those that may use it, and how models are spread over several. */
export function OtherMacsPage() {
  const macs = useStore((state) => state.macs);
  useLooking();
  return (
    <Page title={t("macs-page")} testId="settings-other_macs">
      <p className="part-note">{t("macs-page.words")}</p>
      <PairedMacs macs={macs} />
      <SpreadModels spread={macs.spread} />
      <PairMac macs={macs} />
      <LendThisMac macs={macs} />
    </Page>
  );
}

/** Has the shell look for Macs near by while the page is shown. */
function useLooking(): void {
  useEffect(() => {
    attempt(() => shell.lookForMacs(true));
    // Nobody is there any more to be told that it failed.
    const end = () => void shell.lookForMacs(false).catch(() => {});
    window.addEventListener("pagehide", end);
    return () => {
      window.removeEventListener("pagehide", end);
      end();
    };
  }, []);
}
