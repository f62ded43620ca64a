import type { Prompt, ServerOffers } from "../bridge/bindings";
import { type OfferedPrompt, offeredPrompts } from "../offers/offers";
import { summaryOf } from "./text";

/** A prompt that is offered for a message: of the person's own, or a server's. */
export type Choice = { key: string; name: string; words: string } & (
  | { from: null; prompt: Prompt }
  | { from: OfferedPrompt }
);

/** All prompts, the person's own first. */
export const choices = (prompts: Prompt[], offers: ServerOffers[]): Choice[] => [
  // Two prompts may have one name.
  ...prompts.map((prompt, place) => ({
    key: `own ${place}`,
    name: prompt.name,
    words: summaryOf(prompt),
    from: null,
    prompt,
  })),
  ...offeredPrompts(offers).map((from, place) => ({
    key: `${from.server} ${from.prompt.name} ${place}`,
    name: from.prompt.title,
    words: from.prompt.description.trim(),
    from,
  })),
];
