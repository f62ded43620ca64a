import english from "./en";
import { speak } from "./text";

// Tests speak English.
speak("en", english);
