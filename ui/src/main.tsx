import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { start } from "./actions";
import { App } from "./components/App";
import "./styles/index.css";

const root = document.getElementById("root");
if (!root) throw new Error("The page has no place for the app.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
start();
