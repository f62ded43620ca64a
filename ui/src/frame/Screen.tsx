import { type ReactNode, useEffect, useRef, useState } from "react";
import { TitleStart } from "./TitleStart";

interface Props {
  title: string;
  testId: string;
  /** Whether the focus goes to the title when the screen opens. */
  takesFocus: boolean;
  /** What the screen is about, beside the title. */
  subject?: ReactNode;
  /** What stands at the end of the title's line. */
  tools?: ReactNode;
  /** Whether all of it scrolls; where it does not, what scrolls is part of it. */
  scrolls?: boolean;
  children: ReactNode;
}

/** A screen in the place of the chat: a title, and what is below it. */
export function Screen({ title, testId, takesFocus, subject, tools, scrolls = true, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [scrolled, setScrolled] = useState(false);
  const [atTop] = useState(takesFocus);
  useEffect(() => {
    if (atTop) heading.current?.focus({ preventScroll: true });
  }, [atTop]);
  return (
    <main className="main">
      <header className="toolbar" data-tauri-drag-region>
        <TitleStart />
        <h1 ref={heading} tabIndex={-1} className="screen-title">
          {title}
        </h1>
        {subject}
        <span className="spring" data-tauri-drag-region />
        {tools}
      </header>
      <div className={scrolled ? "screen-place scrolled" : "screen-place"}>
        <div
          className={scrolls ? "screen" : "screen still"}
          data-testid={testId}
          onScroll={(event) => setScrolled(event.currentTarget.scrollTop > 0)}
        >
          {children}
        </div>
      </div>
    </main>
  );
}
