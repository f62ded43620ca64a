import { reportOf, shell } from "../bridge/bridge";
import { noteError } from "../frame/errors";
import { setView, useStore } from "../state/store";

const state = () => useStore.getState();

/** The model that was chosen last. */
let loading = 0;

/** Loads what `open` opens. Returns whether that is there now: not where it failed, or another was chosen since. */
async function load(open: () => Promise<unknown>): Promise<boolean> {
  loading += 1;
  const [mine, { screen }] = [loading, state()];
  setView({ modelError: null });
  try {
    await open();
    if (mine === loading) setView({ modelPicker: false });
    return mine === loading;
  } catch (error) {
    // Why it failed stands in the picker, for whoever is still there.
    if (mine !== loading) return false;
    if (state().screen === screen)
      setView({ screen: "chat", modelError: reportOf(error), modelPicker: true });
    else noteError(error);
    return false;
  }
}

export const openModel = (path: string) => load(() => shell.openModel(path));
export const selectModel = (path: string) => load(() => shell.selectModel(path));

/** Lets the person choose a folder in the system's dialog and opens it. */
export async function chooseModel(): Promise<void> {
  try {
    const path = await shell.chooseModelFolder();
    if (path !== null) {
      setView({ modelPicker: true });
      await openModel(path);
    }
  } catch (error) {
    setView({ screen: "chat", modelError: reportOf(error), modelPicker: true });
  }
}
