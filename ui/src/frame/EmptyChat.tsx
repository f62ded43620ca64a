import { isTemporary } from "../chat/view";
import { t } from "../language/text";
import { demoAnswers } from "../models/models";
import { Glyph } from "../primitives/Glyph";
import { useStore } from "../state/store";
import { FirstStart } from "./FirstStart";

/** A chat without messages. Whoever has chats and a model to work with knows the app, and has calm. */
export function EmptyChat() {
  const begins = useStore(
    (state) =>
      state.selectedModel === "" ||
      demoAnswers(state) ||
      (state.chats.length === 0 && state.projects.length === 0 && state.tag === null),
  );
  const temporary = useStore(({ chat }) => isTemporary(chat));
  if (temporary) return <Temporary />;
  return begins ? <FirstStart /> : <Calm />;
}

function Temporary() {
  return (
    <div className="empty-chat" data-testid="empty-chat">
      <h1 className="off-screen">{t("frame-temporary")}</h1>
      <Glyph guesses={1} />
      <p>{t("frame-temporary.words")}</p>
    </div>
  );
}

function Calm() {
  return (
    <div className="empty-chat" data-testid="empty-chat">
      <h1 className="off-screen">{t("frame-new-chat")}</h1>
      <Glyph guesses={1} />
      <p>{t("frame-stays-here")}</p>
    </div>
  );
}
