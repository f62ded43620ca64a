import { type ReactNode, useEffect, useState } from "react";
import { ErrorNote } from "../frame/ErrorNote";
import { useStore } from "../state/store";

interface Props {
  title: string;
  testId: string;
  /** What stands at the end of the title's line. */
  tools?: ReactNode;
  /** Whether all of it scrolls; where it does not, what scrolls is part of it. */
  scrolls?: boolean;
  children: ReactNode;
}

/** A page of the settings: a title, why the last change failed, and what is below. */
export function Page({ title, testId, tools, scrolls = true, children }: Props) {
  const error = useStore((state) => state.settingsError);
  const [scrolled, setScrolled] = useState(false);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <main className="settings-page">
      <header className="toolbar" data-tauri-drag-region>
        <h1 className="screen-title">{title}</h1>
        <span className="spring" data-tauri-drag-region />
        {tools}
      </header>
      <div className={scrolled ? "screen-place scrolled" : "screen-place"}>
        <section
          className={scrolls ? "screen" : "screen still"}
          data-testid={testId}
          aria-label={title}
          tabIndex={scrolls ? 0 : undefined}
          onScroll={(event) => setScrolled(event.currentTarget.scrollTop > 0)}
        >
          <div className={scrolls ? "settings-column" : "settings-column still"}>
            {error && <ErrorNote error={error} testId="settings-error" />}
            {children}
          </div>
        </section>
      </div>
    </main>
  );
}
