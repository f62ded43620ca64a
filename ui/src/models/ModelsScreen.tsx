import { Screen } from "../frame/Screen";
import { HERE } from "../primitives/platform";
import { useStore } from "../state/store";
import { getModels } from "./actions";
import { ContextControl } from "./ContextControl";
import { Jobs } from "./Jobs";
import { Storage } from "./LibraryPlace";
import { LocalModels } from "./LocalModels";
import { RemoteDetails } from "./RemoteDetails";
import { RemoteModels } from "./RemoteModels";

/** Everything about the models: those that are here, those on their way, and those to get. */
export function ModelsScreen() {
  return (
    <Screen
      title="Models"
      testId="models-screen"
      // Where something on the screen was asked for, the focus goes there.
      takesFocus={useStore((state) => state.spotlight) === null}
      tools={
        <>
          <ContextControl />
          <button type="button" className="quiet-button" data-testid="go-to-get" onClick={getModels}>
            Get models
          </button>
        </>
      }
    >
      <div className="screen-column">
        <LocalModels heading={`On ${HERE}`} />
        <Jobs />
        <RemoteModels />
        <Storage />
      </div>
      <RemoteDetails />
    </Screen>
  );
}
