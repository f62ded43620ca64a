import { t } from "../language/text";
import { argumentsOf } from "./callArguments";
import { VisibleText } from "./VisibleText";

interface Props {
  /** What they are called. */
  name: string;
  /** As JSON. */
  json: string;
}

/** The arguments of a call, each with its name and all of its value. */
export function Arguments({ name, json }: Props) {
  const all = argumentsOf(json);
  if (all?.length === 0) return <p className="call-none">{t("call-arguments.none")}</p>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for input, and a section would be a landmark
    <div
      role="group"
      className="call-arguments"
      aria-label={name}
      data-testid="call-arguments"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
    >
      {all === null ? (
        <pre>
          <VisibleText text={json} />
        </pre>
      ) : (
        <dl>
          {all.map(({ key, value }) => (
            <div key={key}>
              <dt>
                <VisibleText text={key} />
              </dt>
              <dd>
                <VisibleText text={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
