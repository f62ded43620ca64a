import { Dialog } from "@base-ui/react/dialog";
import { type KeyboardEvent, memo, useState } from "react";
import type { MessagePicture, PictureDetail } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { attempt } from "../frame/errors";
import { t } from "../language/text";
import { CopyButton } from "../primitives/CopyButton";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { setView } from "../state/store";
import { details, pictureCost, pictureFacts, usePictureView, viewAsPng } from "./pictures";

interface Props {
  pictures: MessagePicture[];
  /** Takes one away again; there only before they are sent. */
  onRemove?: (index: number) => void;
  /** Lets the model see one in another detail; there only before they are sent. */
  onDetail?: (index: number, detail: PictureDetail) => void;
}

/** Pictures that go or went with a message. A click opens one large. */
export const Pictures = memo(function Pictures({ pictures, onRemove, onDetail }: Props) {
  const [open, setOpen] = useState<number | null>(null);
  if (pictures.length === 0) return null;
  return (
    <>
      <ul className={onRemove ? "pictures to-send" : "pictures"} aria-label={t("chat-pictures")}>
        {pictures.map((picture, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two pictures may be the same
          <li key={index} className="picture" data-testid="picture">
            <Thumbnail picture={picture} onOpen={() => setOpen(index)} />
            {onRemove && (
              <PictureChip
                picture={picture}
                onRemove={() => onRemove(index)}
                onDetail={onDetail && ((detail) => onDetail(index, detail))}
              />
            )}
          </li>
        ))}
      </ul>
      <LargePicture pictures={pictures} open={open} onOpen={setOpen} />
    </>
  );
});

interface ThumbnailProps {
  picture: MessagePicture;
  onOpen: () => void;
}

function Thumbnail({ picture, onOpen }: ThumbnailProps) {
  const view = usePictureView(picture);
  if (picture.missing)
    return (
      <span className="picture-gone" role="img" aria-label={t("chat-picture-gone", { name: picture.name })}>
        <Icon name="picture" />
        <span className="picture-gone-name">{picture.name}</span>
      </span>
    );
  return (
    <button
      type="button"
      className="picture-open"
      aria-label={t("chat-picture-open", { name: picture.name })}
      title={`${picture.name}\n${pictureFacts(picture)}`}
      data-testid="picture-open"
      onClick={onOpen}
    >
      {view === null ? <Icon name="picture" /> : <img src={view} alt={picture.name} decoding="async" />}
    </button>
  );
}

interface ChipProps {
  picture: MessagePicture;
  onRemove: () => void;
  onDetail?: (detail: PictureDetail) => void;
}

/** What a picture that is not sent yet is called and costs. */
function PictureChip({ picture, onRemove, onDetail }: ChipProps) {
  const { name, detail, tokens } = picture;
  return (
    <>
      <span className="picture-words">
        <span className="picture-name">{name}</span>
        {onDetail ? (
          <MenuButton
            className="picture-detail"
            label={t("chat-picture-cost.named", { name, tokens, detail })}
            testId="picture-detail"
            entries={details().map(({ detail, words }) => ({
              name: words,
              reason: null,
              onSelect: () => onDetail(detail),
            }))}
          >
            <span className="numbers">{pictureCost(picture)}</span>
            <Icon name="down" />
          </MenuButton>
        ) : (
          <span className="numbers soft">{pictureCost(picture)}</span>
        )}
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label={t("chat-picture-take", { name })}
        title={t("chat-picture-take.title")}
        data-testid="picture-remove"
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </>
  );
}

interface LargeProps {
  pictures: MessagePicture[];
  open: number | null;
  onOpen: (index: number | null) => void;
}

/** One of the pictures over the window. The arrow keys go on to the others. */
function LargePicture({ pictures, open, onOpen }: LargeProps) {
  const picture = open === null ? undefined : pictures[open];
  const go = (by: number) => {
    if (open !== null && pictures[open + by] !== undefined) onOpen(open + by);
  };
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === "ArrowRight") go(1);
    else if (key === "ArrowLeft") go(-1);
  };
  return (
    <Dialog.Root open={picture !== undefined} onOpenChange={(next) => next || onOpen(null)}>
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-backdrop" />
        <Dialog.Popup className="large-picture" data-testid="large-picture" onKeyDown={onKeyDown}>
          {picture && (
            <>
              <header className="sheet-head">
                <Dialog.Title className="sheet-title">{picture.name}</Dialog.Title>
                <Dialog.Close
                  className="icon-button"
                  aria-label={t("chat-picture-close")}
                  title={t("chat-picture-close.title")}
                >
                  <Icon name="close" />
                </Dialog.Close>
              </header>
              <LargeView picture={picture} />
              <footer className="sheet-foot">
                <span className="soft numbers">
                  {pictureFacts(picture)} ·{" "}
                  {t("chat-picture-cost.in-detail", { tokens: picture.tokens, detail: picture.detail })}
                </span>
                <span className="spring" />
                {pictures.length > 1 && (
                  <span className="soft numbers">
                    {t("chat-picture-place", { place: (open ?? 0) + 1, all: pictures.length })}
                  </span>
                )}
                <CopyButton
                  key={picture.hash}
                  className="button"
                  text={() => viewAsPng(picture.hash)}
                  label={t("chat-picture-copy")}
                  reason={picture.missing ? t("chat-picture-copy.gone") : null}
                  testId="copy-picture"
                />
                <button
                  type="button"
                  className="button"
                  data-testid="save-picture"
                  onClick={() => save(picture)}
                >
                  {t("chat-picture-save")}
                </button>
              </footer>
            </>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function LargeView({ picture }: { picture: MessagePicture }) {
  const view = usePictureView(picture);
  return <div className="large-view">{view !== null && <img src={view} alt={picture.name} />}</div>;
}

const save = ({ hash, name }: MessagePicture) =>
  attempt(async () => {
    const path = await shell.savePicture(hash, name);
    if (path !== null) setView({ note: { text: t("chat-picture-save.saved", { path }), undo: null } });
  });
