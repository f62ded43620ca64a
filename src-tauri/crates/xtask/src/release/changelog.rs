//! The changelog: one section a release, which is also the text of its tag and of the update.

/// The heading of what no release has yet.
const UNRELEASED: &str = "## [Unreleased]";

/// What a release's section says, without its heading; `None` where there is no such section.
pub(super) fn section<'a>(changelog: &'a str, release: &str) -> Option<&'a str> {
    let heading = format!("## [{release}]");
    let begin = line_begin(changelog, &heading)?;
    let rest = changelog[begin..].split_once('\n').map_or("", |(_, rest)| rest);
    let end = line_begin(rest, "## ").unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// The changelog with what is unreleased as the section of a release; `None` where nothing is.
pub(super) fn cut(changelog: &str, version: &str, date: &str) -> Option<String> {
    section(changelog, "Unreleased").filter(|section| has_words(section))?;
    let begin = line_begin(changelog, UNRELEASED)? + UNRELEASED.len();
    let (before, after) = changelog.split_at(begin);
    Some(format!("{before}\n\n## [{version}] - {date}{after}"))
}

/// Whether a section says anything beside its headings.
fn has_words(section: &str) -> bool {
    section.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// Where the first line with this beginning starts.
fn line_begin(text: &str, beginning: &str) -> Option<usize> {
    if text.starts_with(beginning) {
        return Some(0);
    }
    text.find(&format!("\n{beginning}")).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- New.\n\n## [0.1.0] - 2026-01-02\n\n- Old.\n";

    #[test]
    fn what_is_unreleased_becomes_the_section_of_a_release() {
        assert_eq!(section(TEXT, "Unreleased"), Some("### Added\n\n- New."));
        assert_eq!(section(TEXT, "0.1.0"), Some("- Old."));
        assert_eq!(section(TEXT, "0.1"), None);
        let cut = cut(TEXT, "0.2.0", "2026-03-04").unwrap();
        let expected = "## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n### Added\n\n- New.\n\n## [0.1.0]";
        assert!(cut.contains(expected), "{cut}");
        assert_eq!(section(&cut, "0.2.0"), section(TEXT, "Unreleased"));
        assert_eq!(section(&cut, "Unreleased"), Some(""));
        assert_eq!(super::cut(&cut, "0.3.0", "2026-03-05"), None, "nothing is unreleased now");
        assert_eq!(super::cut("## [Unreleased]\n\n### Added\n", "1.0.0", ""), None, "headings say nothing");
    }
}
