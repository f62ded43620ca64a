import type { LocalModel } from "../bridge/bindings";
import { t } from "../language/text";
import { about, loadModel, openModels } from "../models/actions";
import { LibraryError } from "../models/LibraryError";
import { elsewhereLabel, modelsElsewhere } from "../models/offer";
import { ActionButton } from "../primitives/ActionButton";
import { setView, useReason, useStore } from "../state/store";
import { useFocusHandOver } from "./useFocusHandOver";

/** The models that other programs have here, for whoever has none: a single one is used, several are shown. */
export function ModelsElsewhere() {
  const library = useStore((state) => state.library);
  const models = library === null ? [] : modelsElsewhere(library);
  const [first] = models;
  return first === undefined ? null : <Elsewhere models={models} first={first} />;
}

function Elsewhere({ models, first }: { models: LocalModel[]; first: LocalModel }) {
  const reason = useReason("open");
  const part = useFocusHandOver<HTMLParagraphElement>();
  const subject = about.model(first.path);
  const several = models.length > 1;
  return (
    <>
      <p ref={part} className="first-elsewhere">
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
          {t(several ? "frame-use-elsewhere.several" : "frame-use-elsewhere")}
        </ActionButton>
      </p>
      {!several && <LibraryError subject={subject} />}
    </>
  );
}
