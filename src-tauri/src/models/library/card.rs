//! Model cards from the Hub as plain Markdown: what could load, run or deceive is taken out.

/// No card is shown beyond this many bytes.
const LONGEST: usize = 100_000;

/// The card without its metadata, HTML and pictures.
pub(super) fn plain(card: &[u8]) -> String {
    let text = String::from_utf8_lossy(&card[..card.len().min(LONGEST)]).replace("\r\n", "\n");
    let mut plain = String::new();
    let mut markup = Markup::default();
    let mut fence: Option<&str> = None;
    for line in without_metadata(&text).lines() {
        let begin = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| begin.starts_with(mark));
        if fence.is_some() || (mark.is_some() && !markup.is_open()) {
            fence = match fence {
                None => mark,
                Some(open) if mark == Some(open) => None,
                open => open,
            };
            plain.push_str(line);
        } else {
            plain.push_str(markup.strip(line).trim_end());
        }
        plain.push('\n');
    }
    collapse(&plain)
}

/// The text after the YAML block that the Hub reads.
fn without_metadata(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    match text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")) {
        Some((_, rest)) => rest.trim_start_matches('-'),
        None => text,
    }
}

/// Takes HTML and pictures out of lines; a comment or a tag may go on in the next.
#[derive(Debug, Default)]
struct Markup {
    /// What ends the markup that has begun.
    until: Option<&'static str>,
}

impl Markup {
    fn is_open(&self) -> bool {
        self.until.is_some()
    }

    fn strip(&mut self, line: &str) -> String {
        let mut kept = String::new();
        let mut rest = line;
        while !rest.is_empty() {
            if let Some(end) = self.until {
                let Some((_, after)) = rest.split_once(end) else { break };
                self.until = None;
                rest = after;
            } else if let Some(after) = rest.strip_prefix("<!--") {
                self.until = Some("-->");
                rest = after;
            } else if rest.starts_with('<') && is_tag(rest) {
                self.until = Some(">");
                rest = &rest[1..];
            } else if let Some((name, after)) = picture(rest) {
                kept.push_str(name);
                rest = after;
            } else if rest.starts_with('`') {
                let (code, after) = code_span(rest);
                kept.push_str(code);
                rest = after;
            } else {
                let first = rest.chars().next().map_or(0, char::len_utf8);
                kept.push_str(&rest[..first]);
                rest = &rest[first..];
            }
        }
        kept
    }
}

/// Whether `<` begins a tag. An address in angle brackets is Markdown.
fn is_tag(text: &str) -> bool {
    let inner = text[1..].trim_start_matches('/');
    let name = inner.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let after = inner[name.len()..].chars().next();
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && !matches!(after, Some(':' | '@' | '.'))
        || text.starts_with("<!")
        || text.starts_with("<?")
}

/// A picture at the beginning of a text: the words for it, and what follows.
fn picture(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.strip_prefix("![")?.split_once(']')?;
    let after = match after.strip_prefix('(') {
        Some(target) => target.split_once(')').map_or("", |(_, after)| after),
        None => after,
    };
    Some((name, after))
}

/// Code at the beginning of a text, which is kept as it is, and what follows.
fn code_span(text: &str) -> (&str, &str) {
    let mark = &text[..text.len() - text.trim_start_matches('`').len()];
    match text[mark.len()..].find(mark) {
        Some(end) => text.split_at(end + 2 * mark.len()),
        None => text.split_at(mark.len()),
    }
}

/// At most one empty line in a row, none at the ends.
fn collapse(text: &str) -> String {
    let mut out = String::new();
    let mut empty = true;
    for line in text.trim().lines() {
        if line.is_empty() && empty {
            continue;
        }
        empty = line.is_empty();
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_html_and_pictures_are_gone_and_words_stay() {
        let card = "---\nlicense: apache-2.0\n---\n\n# Qwen\n<img src=\"https://a/x.png\"\n alt=\"y\">\n\n\
                    <div align=center><b>Fast</b> & small, 1 < 2</div>\n<!-- hidden\nstill -->seen\n\
                    ![logo](https://b/x.png) ![][z] [link](https://c)\n";
        assert_eq!(
            plain(card.as_bytes()),
            "# Qwen\n\nFast & small, 1 < 2\n\nseen\nlogo [z] [link](https://c)\n"
        );
    }

    #[test]
    fn code_stays_as_it_is() {
        let card = "Use `<think>` and ``a ` <b>``:\n```html\n<script>x</script>\n![a](b)\n```\n<i>end</i>\n<https://a.b>";
        let plain = plain(card.as_bytes());
        assert_eq!(
            plain,
            "Use `<think>` and ``a ` <b>``:\n```html\n<script>x</script>\n![a](b)\n```\nend\n<https://a.b>\n"
        );
    }

    #[test]
    fn tags_that_never_end_hide_the_rest_and_nothing_panics() {
        assert_eq!(plain(b"a <script\nalert(1)"), "a\n");
        assert_eq!(plain("ä<".as_bytes()), "ä<\n");
        assert_eq!(plain(&[0xff, b'<', b'a', b'>']), "\u{fffd}\n");
        assert_eq!(plain("`".as_bytes()), "`\n");
        assert!(plain(&vec![b'a'; 2 * LONGEST]).len() <= LONGEST + 1);
        assert_eq!(plain(b"---\nno end"), "---\nno end\n");
        assert_eq!(plain(b""), "");
    }
}
