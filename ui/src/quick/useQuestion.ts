import { useEffect, useState } from "react";

/** What is typed. It is there again when the page begins again, as for another language. */
export function useQuestion() {
  const [text, setText] = useState(() => sessionStorage.getItem("question") ?? "");
  useEffect(() => sessionStorage.setItem("question", text), [text]);
  return [text, setText] as const;
}
