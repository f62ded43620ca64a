import { useEffect, useState } from "react";
import type {
  LocalModel,
  Message,
  MessagePicture,
  ModelInfo,
  PictureDetail,
  ReplyStats,
} from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { bytes, count, seconds } from "../primitives/format";

/** How many views are kept: more than are on a screen. */
const MOST_VIEWS = 60;

/** What people see of pictures, by hash, the one that was asked for last at the end. */
const views = new Map<string, Promise<string>>();

/** What people see of a picture, as an address; it is asked for once. */
function viewOf(hash: string): Promise<string> {
  const view = views.get(hash) ?? shell.pictureView(hash);
  views.delete(hash);
  views.set(hash, view);
  // What failed is asked for again.
  view.catch(() => views.delete(hash));
  const oldest = views.keys().next().value;
  if (views.size > MOST_VIEWS && oldest !== undefined) views.delete(oldest);
  return view;
}

/** What people see of a picture, as an address; null until it is there, and where its file is gone. */
export function usePictureView({ hash, missing }: MessagePicture): string | null {
  const [seen, setSeen] = useState<{ hash: string; address: string } | null>(null);
  useEffect(() => {
    if (missing) return;
    let isWanted = true;
    viewOf(hash)
      .then((address) => isWanted && setSeen({ hash, address }))
      // A placeholder stands there.
      .catch((error) => console.warn(reportOf(error)));
    return () => {
      isWanted = false;
    };
  }, [hash, missing]);
  // While another one is asked for, the one before is not it.
  return seen?.hash === hash && !missing ? seen.address : null;
}

/** What people see of a picture, as PNG. */
export async function viewAsPng(hash: string): Promise<Blob> {
  const image = new Image();
  image.src = await viewOf(hash);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return new Promise((resolve, reject) => {
    const done = (png: Blob | null) =>
      png ? resolve(png) : reject(new Error("The picture cannot be drawn."));
    canvas.toBlob(done, "image/png");
  });
}

/** What the person chooses from, and what each is. */
export const DETAILS: { detail: PictureDetail; name: string; words: string }[] = [
  { detail: "low", name: "Low", words: "at most 256 tokens" },
  { detail: "standard", name: "Standard", words: "at most 1,024 tokens" },
  { detail: "high", name: "High", words: "at most 4,096 tokens" },
  { detail: "original", name: "All", words: "as much as the model reads" },
];

export const detailName = (detail: PictureDetail): string =>
  DETAILS.find((one) => one.detail === detail)?.name ?? "";

/** What a picture costs. */
export const pictureCost = ({ tokens }: MessagePicture): string => `${count(tokens)} tokens`;

/** What is known of a picture, in a line. */
export const pictureFacts = (picture: MessagePicture): string => {
  const { width, height, format } = picture;
  return `${count(width)} × ${count(height)} ${format.toUpperCase()}, ${bytes(picture.bytes)}`;
};

const picturesLabel = (pictures: number): string =>
  pictures === 1 ? "1 picture" : `${count(pictures)} pictures`;

/** What a reply's pictures took; null where it had none. */
export function seenLabel({ pictures, picture_tokens, tower_seconds }: ReplyStats): string | null {
  if (pictures === 0) return null;
  const took = tower_seconds > 0 ? `seen in ${seconds(tower_seconds)}` : "remembered";
  return `${picturesLabel(pictures)}, ${count(picture_tokens)} tokens, ${took}`;
}

/** How many pictures of the chat a reply did not see, and why; null where it saw all. */
export function unseenLabel({ unseen }: ReplyStats): string | null {
  const reasons: [number, string][] = [
    [unseen.no_sight, "the model reads text alone"],
    [unseen.no_room, "no room in the context"],
    [unseen.missing, "file gone"],
    [unseen.undecoded, "file cannot be read"],
  ];
  const given = reasons.filter(([pictures]) => pictures > 0);
  // A number where there is more than one reason.
  const words = given.map(([pictures, why]) => (given.length > 1 ? `${why} (${count(pictures)})` : why));
  const all = given.reduce((sum, [pictures]) => sum + pictures, 0);
  return all > 0 ? `${picturesLabel(all)} not seen: ${words.join(", ")}` : null;
}

/** What is said while a model looks at the pictures of a question; without any, at those of earlier turns. */
export function lookingLabel(pictures: number): string {
  if (pictures === 0) return "Looking at earlier pictures again";
  return pictures === 1 ? "Looking at the picture" : `Looking at ${picturesLabel(pictures)}`;
}

/**
 * The model of the library that sees pictures and was used last, of those that run here, but for the one in `blind`;
 * null if there is none.
 */
export function modelThatSees(models: LocalModel[], blind: string | null): LocalModel | null {
  const seeing = models.filter(
    ({ path, sight, state, fit }) =>
      path !== blind && sight === "sees" && state.state === "ready" && fit?.verdict !== "too_big",
  );
  return seeing.toSorted((a, b) => (b.last_used ?? 0) - (a.last_used ?? 0))[0] ?? null;
}

/** Why a model cannot see pictures; null if it can, or if there is none. */
export const blindness = (model: ModelInfo | null): string | null =>
  model?.pictures.state === "unavailable" ? model.pictures.reason : null;

/** Whether pictures were sent. */
export const hasPictures = (messages: Message[]): boolean =>
  messages.some(({ pictures }) => pictures.length > 0);
