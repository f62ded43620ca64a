import { about, loadModel, openModels } from "../models/actions";
import { LibraryError } from "../models/LibraryError";
import { elsewhereLabel, modelsElsewhere } from "../models/offer";
import { ActionButton } from "../primitives/ActionButton";
import { setView, useReason, useStore } from "../state/store";

/** The models that other programs have here, for whoever has none: a single one is used, several are shown. */
export function ModelsElsewhere() {
  const library = useStore((state) => state.library);
  const reason = useReason("open");
  const models = library === null ? [] : modelsElsewhere(library);
  const [first] = models;
  if (first === undefined) return null;
  const subject = about.model(first.path);
  const several = models.length > 1;
  return (
    <>
      <p className="first-elsewhere">
        {elsewhereLabel(models)}{" "}
        <ActionButton
          className="word-button"
          data-testid="use-elsewhere"
          reason={several ? null : reason}
          onClick={() => {
            if (!several) return loadModel(first.path);
            setView({ spotlight: subject });
            openModels();
          }}
        >
          {several ? "Use them" : "Use it"}
        </ActionButton>
      </p>
      {!several && <LibraryError subject={subject} />}
    </>
  );
}
