//! Where other programs keep their lists of servers.

use std::path::{Path, PathBuf};

/// A file in which a program keeps its servers; it need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The program.
    pub program: &'static str,
    /// The file.
    pub path: PathBuf,
}

/// Where the programs that people come from keep their servers on this system, for the person of this home folder.
/// Nothing is read.
pub fn usual_places(home: &Path) -> Vec<Place> {
    places(home, if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" })
}

/// As above; `settings` is the folder in which the system's programs keep their settings.
fn places(home: &Path, settings: &str) -> Vec<Place> {
    let place = |program, path| Place { program, path };
    vec![
        place("Claude Desktop", home.join(settings).join("Claude/claude_desktop_config.json")),
        place("LM Studio", home.join(".lmstudio/mcp.json")),
        place("Cursor", home.join(".cursor/mcp.json")),
        place("Visual Studio Code", home.join(settings).join("Code/User/mcp.json")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_are_those_of_each_system() {
        let paths = |settings| {
            let places = places(Path::new("/h"), settings);
            places.into_iter().map(|place| place.path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            paths("Library/Application Support"),
            [
                "/h/Library/Application Support/Claude/claude_desktop_config.json",
                "/h/.lmstudio/mcp.json",
                "/h/.cursor/mcp.json",
                "/h/Library/Application Support/Code/User/mcp.json",
            ]
        );
        assert_eq!(paths(".config")[0], "/h/.config/Claude/claude_desktop_config.json");
        assert_eq!(paths(".config")[3], "/h/.config/Code/User/mcp.json");
        assert_eq!(usual_places(Path::new("/h")).len(), 4);
    }
}
