import { toUnicode } from "punycode/";
import { t } from "../language/text";
import { writtenBy } from "../primitives/format";

/**
 * An address as it is shown and as it is opened: `start`, `host` and `rest` in a row. It is ASCII alone, so that
 * nothing in it can be hidden, reversed or taken for another letter.
 */
export interface Address {
  /** What stands before the host. */
  start: string;
  /** The site, or that of a mailbox. */
  host: string;
  /** What stands after the host. */
  rest: string;
  /** It leads to a mail and not to a page. */
  mail: boolean;
  /** What one could be deceived by, in sentences. */
  notes: string[];
}

/** The address that a text names: that of a page, or of a mailbox. `null` for all others. */
export function addressOf(written: string): Address | null {
  const url = URL.canParse(written) ? new URL(written) : null;
  switch (url?.protocol) {
    case "http:":
    case "https:":
      return pageOf(url);
    case "mailto:":
      return mailOf(url);
    default:
      return null;
  }
}

/** The address of a link whose text is `text`. A text that is an address itself should be that of the same site. */
export function addressOfLink(written: string, text: string): Address | null {
  const address = addressOf(written);
  const said = /^(?:https?:\/\/|www\.)\S+$/i.test(text.trim()) ? addressOf(withScheme(text.trim())) : null;
  if (address === null || said === null || withoutWww(said.host) === withoutWww(address.host)) return address;
  return { ...address, notes: [t("markdown-link-other-site", { site: said.host }), ...address.notes] };
}

const withScheme = (text: string): string => (/^www\./i.test(text) ? `https://${text}` : text);
const withoutWww = (host: string): string => host.replace(/^www\./, "");

/** The whole address. */
export const wholeOf = ({ start, host, rest }: Address): string => start + host + rest;

function pageOf(url: URL): Address {
  const { protocol, hostname: host, port, pathname, search, hash, username, password } = url;
  const rest = `${port && `:${port}`}${pathname}${search}${hash}`;
  const notes = imitations(host);
  if (username !== "" || password !== "")
    notes.unshift(t("markdown-link-sign-in", { name: username, site: host }));
  return { start: `${protocol}//`, host, rest, mail: false, notes };
}

/** A local part and a host, without white space, controls and direction marks. */
const MAILBOX = /^([^\s\p{C}@"<>]+)@([^\s\p{C}@"<>]+)$/u;

/** One mailbox and a subject are kept: a mail says and reaches only what the person sees. */
function mailOf({ pathname, search }: URL): Address | null {
  const [first = "", ...others] = decoded(pathname)?.split(",") ?? [];
  const [, local, domain] = MAILBOX.exec(first) ?? [];
  const host = domain === undefined ? null : hostOf(domain);
  if (local === undefined || host === null) return null;
  // In the address of a mail a plus sign is one.
  const fields = [...new URLSearchParams(search.replaceAll("+", "%2B"))];
  const subject = fields.find(([name]) => name.toLowerCase() === "subject")?.[1] ?? "";
  const oneLine = subject.replace(/[\s\p{C}]+/gu, " ").trim();
  const notes = imitations(host);
  if (others.length > 0 || fields.length > (subject === "" ? 0 : 1))
    notes.push(t("markdown-link-one-mailbox"));
  return {
    start: `mailto:${encodeURIComponent(local).replaceAll("%2B", "+")}@`,
    host,
    rest: oneLine && `?subject=${encodeURIComponent(oneLine)}`,
    mail: true,
    notes,
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A domain as addresses of pages write it; `null` if it is none. */
function hostOf(domain: string): string | null {
  if (!URL.canParse(`https://${domain}`)) return null;
  const { hostname, href } = new URL(`https://${domain}`);
  // A character may stand for a comma, which would begin another mailbox.
  return href === `https://${hostname}/` && /^[\w.-]+$/.test(hostname) ? hostname : null;
}

/** Scripts that names of sites are written in, or nearly all of them. */
const SCRIPTS = [
  "latin",
  "cyrillic",
  "greek",
  "armenian",
  "georgian",
  "cherokee",
  "hebrew",
  "arabic",
  "devanagari",
  "bengali",
  "tamil",
  "thai",
  "han",
  "hiragana",
  "katakana",
  "hangul",
].map((name) => ({
  name,
  letter: new RegExp(`\\p{Script=${name.charAt(0).toUpperCase()}${name.slice(1)}}`, "u"),
}));

/** Says how a host reads whose letters are not all ASCII: they may look like those of another one. */
function imitations(host: string): string[] {
  const name = toUnicode(host);
  if (name === host) return [];
  const labels = name.split(".").filter((label) => /\P{ASCII}/u.test(label));
  const scripts = SCRIPTS.filter(({ letter }) => labels.some((label) => letter.test(label)));
  const names = scripts.length > 0 ? scripts.map(({ name }) => name) : ["other"];
  const words = names.map((script) => t("markdown-script", { script }));
  return [
    t("markdown-link-letters", {
      // A name from right to left leaves the sentence as it is.
      name: `\u2068${name}\u2069`,
      scripts: new Intl.ListFormat(writtenBy()).format(words),
    }),
  ];
}
