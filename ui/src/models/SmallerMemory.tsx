import { useState } from "react";
import { t } from "../language/text";
import { useStore } from "../state/store";
import { about, setKvPrecision } from "./actions";
import { LibraryError } from "./LibraryError";

/** Whether chats take less memory as they grow, and what that costs. */
export function SmallerMemory() {
  const kept = useStore((state) => state.library?.kv_precision);
  /** What was asked for, until it holds or does not. */
  const [asked, setAsked] = useState<boolean | null>(null);
  if (!kept) return null;
  const change = async (smaller: boolean) => {
    if (asked !== null) return;
    setAsked(smaller);
    await setKvPrecision(smaller ? "eight" : "full");
    setAsked(null);
  };
  return (
    <li className="row">
      <label className="check" aria-busy={asked !== null}>
        <input
          type="checkbox"
          checked={asked ?? kept === "eight"}
          data-testid="smaller-memory"
          onChange={(event) => change(event.target.checked)}
        />
        {t("models-smaller-memory")}
      </label>
      <p className="row-words">{t("models-smaller-memory.words")}</p>
      <LibraryError subject={about.memory} />
    </li>
  );
}
