import { useEffect, useState } from "react";
import type { Attachment } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { useModel } from "../state/store";
import { withFiles } from "./attachments";
import { TokenCounts } from "./tokenCounts";

const known = new TokenCounts();

/** The tokens that each file adds to a message, as far as the model that is loaded has counted them. */
export function useTokens(files: Attachment[]): (number | undefined)[] {
  const model = useModel()?.path;
  const [, setCounted] = useState(0);
  useEffect(() => {
    const unknown = files.filter((file) => known.of(model, file) === undefined);
    if (model === undefined || unknown.length === 0) return;
    shell
      .countTokens(unknown.map((file) => withFiles("", [file])))
      .then((counts) => {
        unknown.forEach((file, index) => {
          known.keep(model, file, counts[index] ?? 0);
        });
        setCounted((times) => times + 1);
      })
      // The estimate stays.
      .catch((error) => console.warn(reportOf(error)));
  }, [files, model]);
  return files.map((file) => known.of(model, file));
}
