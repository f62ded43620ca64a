//! Files that were sent with a message: the page writes them behind its text.

/// What stands before the content of a file, up to its name.
const HEAD: &str = "\n\nFile: ";

/// How many files end a message. What only looks like one, and has text behind it, is text.
pub(super) fn count(message: &str) -> u32 {
    let (mut files, mut end, mut from) = (0, 0, 0);
    while let Some(offset) = message[from..].find(HEAD) {
        let start = from + offset;
        let Some(length) = length(&message[start + HEAD.len()..]) else {
            from = start + 1;
            continue;
        };
        files = if start == end { files + 1 } else { 1 };
        end = start + HEAD.len() + length;
        from = end;
    }
    if end == message.len() { files } else { 0 }
}

/// Whether files were sent with a message.
pub fn has_files(message: &str) -> bool {
    count(message) > 0
}

/// The bytes of a file that begins with its name; `None` if it is none.
fn length(file: &str) -> Option<usize> {
    let (name, body) = file.split_once('\n')?;
    let fence = &body[..body.len() - body.trim_start_matches('`').len()];
    let content = body[fence.len()..].strip_prefix('\n')?;
    if name.is_empty() || fence.len() < 3 {
        return None;
    }
    let close = format!("\n{fence}");
    let begin = file.len() - content.len();
    let ends = content.match_indices(&close).map(|(at, _)| begin + at + close.len());
    ends.into_iter().find(|&end| matches!(file.as_bytes().get(end), None | Some(b'\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_as_the_page_reads_them() {
        let file = |name: &str, text: &str| format!("\n\nFile: {name}\n```\n{text}\n```");
        let [one, two] = [file("a.txt", "one"), file("b.txt", "")];
        assert_eq!(count(""), 0);
        assert_eq!(count("See\n\nFile: a.txt"), 0);
        assert_eq!(count(&format!("See{one}")), 1);
        assert_eq!(count(&format!("See{one}{two}")), 2);
        assert_eq!(count(&format!("{one}{two}\nand more")), 0);
        assert_eq!(count(&format!("{one}\nbetween{two}")), 1);
        assert_eq!(count("\n\nFile: a.md\n````\n```\ncode\n```\n````"), 1);
        assert_eq!(count("\n\nFile: \n```\nno name\n```"), 0);
    }
}
