import type { ServerInfo } from "../bridge/bindings";
import { VisibleText } from "../chat/VisibleText";
import { t } from "../language/text";
import { claimed } from "./toolServers";

/** The tools of a server as they were seen last, and what it says of each. */
export function ServerTools({ server: { name, tools } }: { server: ServerInfo }) {
  return (
    <section className="server-part">
      <h3>{t("settings-server-tools")}</h3>
      <p className="setting-words">
        {t(tools.length === 0 ? "settings-server-tools.unknown" : "settings-server-tools.words")}
      </p>
      {tools.length > 0 && (
        <section
          className="server-tools"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
          aria-label={t("settings-server-tools.list", { name })}
        >
          <dl>
            {tools.map(({ name, description, claims }) => (
              <div key={name} data-testid="server-tool">
                <dt>
                  <code className="path">
                    <VisibleText text={name} />
                  </code>
                  <span className="setting-words">{claimed(claims)}</span>
                </dt>
                <dd className="setting-words" translate="no">
                  {description}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </section>
  );
}
