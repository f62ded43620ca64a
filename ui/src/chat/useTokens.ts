import { useEffect, useMemo, useState } from "react";
import type { Attachment } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { useModel } from "../state/store";
import { withFiles } from "./attachments";
import { TokenCounts } from "./tokenCounts";

const known = new TokenCounts();

/**
 * The tokens of each text, as far as the model that is loaded has counted them. `texts` is the same list until it
 * changes, and so are they until more was counted.
 */
export function useTokens(texts: string[]): (number | undefined)[] {
  const model = useModel()?.path;
  const [counted, setCounted] = useState(0);
  useEffect(() => {
    const unknown = texts.filter((text) => known.of(model, text) === undefined);
    if (model === undefined || unknown.length === 0) return;
    shell
      .countTokens(unknown)
      .then((counts) => {
        unknown.forEach((text, index) => {
          known.keep(model, text, counts[index] ?? 0);
        });
        setCounted((times) => times + 1);
      })
      // The estimate stays.
      .catch((error) => console.warn(reportOf(error)));
  }, [texts, model]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is known changes with what was counted
  return useMemo(() => texts.map((text) => known.of(model, text)), [texts, model, counted]);
}

/** The tokens that each file adds to a message, likewise. */
export function useFileTokens(files: Attachment[]): (number | undefined)[] {
  return useTokens(useMemo(() => files.map((file) => withFiles("", [file])), [files]));
}
