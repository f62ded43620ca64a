/** A part of what a tool gave. */
export type OutcomePart =
  | { kind: "text"; text: string }
  | { kind: "picture"; media_type: string; data: string }
  | { kind: "other"; media_type: string; name: string; bytes: number }
  | { kind: "link"; address: string; name: string };

/** What came of a call: the shell keeps it as JSON (`Outcome` in the crate of tools). */
export interface Outcome {
  parts: OutcomePart[];
  failed: boolean;
}

/** Reads what is kept of a result; null where it is no such thing. */
export function outcomeOf(json: string): Outcome | null {
  try {
    const value = JSON.parse(json) as Partial<Outcome> | null;
    if (!Array.isArray(value?.parts)) return null;
    return { parts: value.parts.filter(isPart), failed: value.failed === true };
  } catch {
    return null;
  }
}

function isPart(part: unknown): part is OutcomePart {
  if (typeof part !== "object" || part === null) return false;
  const one = part as Record<string, unknown>;
  const areTexts = (...names: string[]) => names.every((name) => typeof one[name] === "string");
  switch (one.kind) {
    case "text":
      return areTexts("text");
    case "picture":
      return areTexts("media_type", "data");
    case "other":
      return areTexts("media_type", "name") && typeof one.bytes === "number";
    case "link":
      return areTexts("address", "name");
    default:
      return false;
  }
}

/** Kinds of pictures that are drawn; what may hold programs, as SVG, is none. */
const DRAWN = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/** A picture that is longer in base64 is named and not drawn. */
const LARGEST = 8_000_000;

/** What draws a picture of a result; null where it is only named. Nothing is fetched for it. */
export function pictureAddress({ media_type, data }: { media_type: string; data: string }): string | null {
  const clean = data.replace(/\s+/g, "");
  const drawn = DRAWN.includes(media_type) && clean.length <= LARGEST && /^[A-Za-z0-9+/]+={0,2}$/.test(clean);
  return drawn ? `data:${media_type};base64,${clean}` : null;
}

/** Whether the model got just what the tool gave. */
export function isWhole({ parts }: Outcome, forModel: string): boolean {
  if (parts.some(({ kind }) => kind !== "text")) return false;
  const texts = parts.map((part) => (part.kind === "text" ? part.text : ""));
  return texts.filter((text) => text.trim() !== "").join("\n\n") === forModel;
}
