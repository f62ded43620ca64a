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
import { t } from "../language/text";
import { told, why } from "../language/told";
import { bytes, commas, seconds, sentences } from "../primitives/format";

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
export const details = (): { detail: PictureDetail; words: string }[] => [
  { detail: "low", words: t("chat-detail.low") },
  { detail: "standard", words: t("chat-detail.standard") },
  { detail: "high", words: t("chat-detail.high") },
  { detail: "original", words: t("chat-detail.original") },
];

/** What a picture costs. */
export const pictureCost = ({ tokens }: MessagePicture): string => t("chat-picture-cost", { tokens });

/** What is known of a picture, in a line. */
export const pictureFacts = (picture: MessagePicture): string => {
  const { width, height, format } = picture;
  return t("chat-picture-facts", { width, height, format: format.toUpperCase(), size: bytes(picture.bytes) });
};

/** What a reply's pictures took; null where it had none. */
export function seenLabel({ pictures, picture_tokens: tokens, tower_seconds }: ReplyStats): string | null {
  if (pictures === 0) return null;
  if (tower_seconds <= 0) return t("chat-seen.remembered", { pictures, tokens });
  return t("chat-seen", { pictures, tokens, time: seconds(tower_seconds) });
}

/** How many pictures of the chat a reply did not see, and why; null where it saw all. */
export function unseenLabel({ unseen }: ReplyStats): string | null {
  const reasons: [number, string][] = [
    [unseen.no_sight, t("chat-unseen.no-sight")],
    [unseen.no_room, t("chat-unseen.no-room")],
    [unseen.missing, t("chat-unseen.missing")],
    [unseen.undecoded, t("chat-unseen.undecoded")],
  ];
  const given = reasons.filter(([pictures]) => pictures > 0);
  if (given.length === 0) return null;
  // A number where there is more than one reason.
  const words = given.map(([pictures, reason]) =>
    given.length > 1 ? t("chat-unseen.counted", { reason, count: pictures }) : reason,
  );
  return t("chat-unseen", {
    pictures: given.reduce((sum, [pictures]) => sum + pictures, 0),
    reasons: commas(words),
  });
}

/** What is said while a model looks at the pictures of a question; without any, at those of earlier turns. */
export const lookingLabel = (pictures: number): string =>
  pictures === 0 ? t("chat-looking.again") : t("chat-looking", { pictures });

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
export function blindness(model: ModelInfo | null): string | null {
  if (model?.pictures.state !== "unavailable") return null;
  const { reason } = model.pictures;
  switch (reason.kind) {
    case "text_alone":
      return t("chat-blindness");
    case "left_out":
      return t("chat-blindness.left-out");
    case "not_described":
      return t("chat-blindness.not-described");
    case "unusable":
      return t("chat-blindness.unusable", { reason: sentences(why(reason.error), told(reason.error).hint) });
    case "too_little_memory":
      return t("chat-blindness.too-little-memory", {
        needed: bytes(reason.needed),
        available: bytes(reason.available),
      });
  }
}

/** Whether pictures were sent. */
export const hasPictures = (messages: Message[]): boolean =>
  messages.some(({ pictures }) => pictures.length > 0);
