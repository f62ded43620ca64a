//! Names of pictures. They come from other people's files, and anything may stand in them.

/// The bytes of a name at most, as file systems count.
const LONGEST: usize = 200;

/// A name without a folder before it and without what nobody sees in it.
pub(super) fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let seen: String = last.chars().filter(|&letter| !letter.is_control() && !turns_text(letter)).collect();
    let end = seen.floor_char_boundary(LONGEST);
    match seen[..end].trim() {
        "" | "." | ".." => "picture".to_owned(),
        name => name.to_owned(),
    }
}

/// The beginning of a file's name that any system takes: the name of a picture without its ending.
pub(super) fn of_file(name: &str) -> String {
    let name = plain(name);
    let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
    let allowed = |letter: char| if "<>:\"|?*".contains(letter) { '-' } else { letter };
    stem.chars().map(allowed).collect::<String>().trim_matches(['.', ' ']).to_owned()
}

/// Whether a letter only says in which direction others are read, which makes one name look like another.
fn turns_text(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_and_hides_nothing() {
        let names = [
            ("owl.heic", "owl.heic", "owl"),
            ("../../etc/owl.png", "owl.png", "owl"),
            ("C:\\temp\\owl.png", "owl.png", "owl"),
            ("..", "picture", "picture"),
            ("a/..", "picture", "picture"),
            ("", "picture", "picture"),
            (".png", ".png", ""),
            ("\0ow\u{202e}l\n.png ", "owl.png", "owl"),
            ("Eule: <groß>?.jpg", "Eule: <groß>?.jpg", "Eule- -groß--"),
        ];
        for (name, shown, file) in names {
            assert_eq!((plain(name), of_file(name)), (shown.into(), file.into()), "{name:?}");
        }
        assert_eq!(plain(&"é".repeat(300)), "é".repeat(100));
    }
}
