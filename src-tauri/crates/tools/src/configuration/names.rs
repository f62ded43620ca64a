//! What servers and their tools are called towards a model.

use std::collections::BTreeSet;

use ring::digest::{SHA256, digest};

use super::{ConfigurationError, hexadecimal};

/// The longest slug, in characters.
pub const LONGEST_SLUG: usize = 24;
/// The longest name of a tool towards a model, in characters.
pub const LONGEST_TOOL_NAME: usize = 64;
/// What stands between a slug and the name of a tool. No slug has a `_` in it, so that the first pair is this one.
const BETWEEN: &str = "__";
/// Bytes of a hash that tell two changed names apart.
const HASH_BYTES: usize = 6;

/// The slug of a server that is called `name`: its ASCII letters in lower case, its digits, and a `-` for what else is
/// between them; with a number behind it where it is `taken`.
pub fn slug(name: &str, taken: &BTreeSet<String>) -> String {
    let words = name.split(|character: char| !character.is_ascii_alphanumeric());
    let joined = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let base = if joined.is_empty() { "server" } else { &joined };
    let first = cut(base, LONGEST_SLUG).to_owned();
    if !taken.contains(&first) {
        return first;
    }
    let numbered = |number: usize| {
        let number = format!("-{number}");
        format!("{}{number}", cut(base, LONGEST_SLUG - number.len()))
    };
    // One more number than there are slugs: one of them is free.
    (2..=taken.len() + 2).map(numbered).find(|slug| !taken.contains(slug)).unwrap_or(first)
}

/// The beginning of an ASCII text, at most so many characters, without a `-` at its end.
fn cut(text: &str, most: usize) -> &str {
    text[..text.len().min(most)].trim_end_matches('-')
}

/// Says so if a text is no slug.
pub(super) fn check_slug(slug: &str) -> Result<(), ConfigurationError> {
    let fits = (1..=LONGEST_SLUG).contains(&slug.len());
    if fits && slug.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')) {
        Ok(())
    } else {
        Err(ConfigurationError::SlugUnusable { slug: slug.into() })
    }
}

/// What a model calls a tool of a server: `slug__tool`, at most 64 of `A-Za-z0-9_.-`. Other characters of the tool's
/// name become `_`, and a long one is cut; a name that was changed so ends in a hash of the whole, so that two tools of
/// one server keep two names.
pub fn tool_name(slug: &str, tool: &str) -> Result<String, ConfigurationError> {
    check_slug(slug)?;
    if tool.is_empty() {
        return Err(ConfigurationError::ToolUnnamed { slug: slug.into() });
    }
    let usable = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-');
    let room = LONGEST_TOOL_NAME - slug.len() - BETWEEN.len();
    if tool.len() <= room && tool.chars().all(usable) {
        return Ok(format!("{slug}{BETWEEN}{tool}"));
    }
    let hash = hexadecimal(&digest(&SHA256, tool.as_bytes()).as_ref()[..HASH_BYTES]);
    let kept = tool.chars().map(|character| if usable(character) { character } else { '_' });
    let kept: String = kept.take(room - 1 - hash.len()).collect();
    Ok(format!("{slug}{BETWEEN}{kept}_{hash}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slug_is_the_name_in_plain_letters() {
        for (name, expected) in [
            ("Files", "files"),
            ("  My  GitHub (work)!", "my-github-work"),
            ("@scope/server_2", "scope-server-2"),
            ("größe", "gr-e"),
            ("読む", "server"),
            ("", "server"),
            ("abcdefghijklmnopqrstuvw xyz", "abcdefghijklmnopqrstuvw"),
        ] {
            assert_eq!(slug(name, &BTreeSet::new()), expected);
        }
    }

    #[test]
    fn a_taken_slug_gets_a_number() {
        let mut taken = BTreeSet::new();
        let given: Vec<_> = (0..11)
            .map(|_| {
                let slug = slug("abcdefghijklmnopqrstuvwxyz", &taken);
                taken.insert(slug.clone());
                slug
            })
            .collect();
        assert_eq!(given[0], "abcdefghijklmnopqrstuvwx");
        assert_eq!(given[1], "abcdefghijklmnopqrstuv-2");
        assert_eq!(given[10], "abcdefghijklmnopqrstu-11");
    }

    #[test]
    fn a_tool_is_called_after_its_server() {
        assert_eq!(tool_name("files", "read_file").unwrap(), "files__read_file");
        assert_eq!(tool_name("a-1", "x.y-Z_9").unwrap(), "a-1__x.y-Z_9");
        assert_eq!(tool_name("files", "read file").unwrap(), "files__read_file_1214148ebf66");
        let longest = "x".repeat(57);
        assert_eq!(tool_name("files", &longest).unwrap(), format!("files__{longest}"));
        let cut = tool_name("files", &"x".repeat(58)).unwrap();
        assert!(cut.len() == 64 && cut.starts_with(&format!("files__{}_", "x".repeat(44))), "{cut}");
    }

    #[test]
    fn a_tool_without_a_name_and_a_server_without_a_slug_are_refused() {
        assert_eq!(tool_name("files", ""), Err(ConfigurationError::ToolUnnamed { slug: "files".into() }));
        for slug in ["", "Files", "my_files", "größe", "abcdefghijklmnopqrstuvwxy"] {
            assert_eq!(tool_name(slug, "read"), Err(ConfigurationError::SlugUnusable { slug: slug.into() }));
        }
    }

    proptest! {
        #[test]
        fn each_server_gets_a_slug_of_its_own(
            names in prop::collection::vec("\\PC{0,30}|[ab]|a{23,26}", 0..20)
        ) {
            let mut taken = BTreeSet::new();
            for name in names {
                let slug = slug(&name, &taken);
                prop_assert!(check_slug(&slug).is_ok(), "{}", slug);
                prop_assert!(taken.insert(slug));
            }
        }

        #[test]
        fn each_tool_gets_a_name_of_its_own_that_a_model_can_write(
            tools in prop::collection::btree_set("\\PC{1,70}|[a_ :]{1,3}|x{50,60}[a-z]{0,9}", 0..20),
            slugs in prop::collection::btree_set("[a-z0-9-]{1,24}|a-?b?", 1..4),
        ) {
            let mut seen = BTreeSet::new();
            for (slug, tool) in slugs.iter().flat_map(|slug| tools.iter().map(move |tool| (slug, tool))) {
                let name = tool_name(slug, tool).unwrap();
                prop_assert!(name.len() <= LONGEST_TOOL_NAME);
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)));
                prop_assert_eq!(name.split_once(BETWEEN).unwrap().0, slug);
                prop_assert!(seen.insert(name));
            }
        }
    }
}
