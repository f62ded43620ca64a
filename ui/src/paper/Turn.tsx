import type { Message } from "../bridge/bindings";
import { splitFiles } from "../chat/attachments";
import { isSummary, summaryName } from "../chat/view";
import { t } from "../language/text";
import { Markdown } from "../markdown/Markdown";

interface Props {
  message: Message;
  /** What people see of pictures, by hash; of those that are not in it there are names. */
  views: ReadonlyMap<string, string>;
  /** Whether what was thought before the answer goes along, folded. */
  thinking: boolean;
}

/** A message as it stands on paper. */
export function Turn({ message, views, thinking }: Props) {
  const { role, pictures } = message;
  return (
    <section className="turn">
      <p className="speaker">{speaker(message)}</p>
      {pictures.map(({ hash, name }, index) => {
        const view = views.get(hash);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: two pictures may be the same
          <p key={index} className="picture">
            {view === undefined ? t("paper-picture", { name }) : <img src={view} alt={name} />}
          </p>
        );
      })}
      {role === "user" ? <Question text={message.text} /> : <Reply message={message} thinking={thinking} />}
    </section>
  );
}

function speaker(message: Message): string {
  if (isSummary(message)) return summaryName();
  return message.role === "user" ? t("paper-person") : (message.model ?? t("paper-reply"));
}

function Question({ text: written }: { text: string }) {
  const { text, files } = splitFiles(written);
  return (
    <>
      {text.trim() !== "" && <p className="own">{text}</p>}
      {files.map(({ name }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may be the same
        <p key={index} className="file">
          {t("paper-file", { name })}
        </p>
      ))}
    </>
  );
}

function Reply({ message: { text, thinking: thought }, thinking }: Pick<Props, "message" | "thinking">) {
  return (
    <>
      {thinking && thought.trim() !== "" && (
        <details>
          <summary>{t("paper-thinking")}</summary>
          <Markdown text={thought} complete />
        </details>
      )}
      <Markdown text={text} complete />
    </>
  );
}
