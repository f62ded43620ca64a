//! The Homebrew cask, and what the app leaves on a Mac.

use super::names::Names;
use crate::bundle::IDENTIFIER;

/// What lies in a person's home once the app was used, a line each, `~` being that home: what the app itself removes
/// when it is told to. Models may be in a folder that the person chose, and secrets are in the keychain, under the
/// app's identifier: neither is here.
pub(super) const LEFTOVERS: &str = include_str!("../../../../leftovers.txt");

/// The cask of a release, whose image has this hash; `None` while releases have no place. It does not say
/// `auto_updates`: the app leaves a copy of Homebrew's to Homebrew.
pub(super) fn cask(names: &Names, version: &str, image: &str, hash: &str) -> Option<String> {
    let address = names.address("#{version}", &image.replace(version, "#{version}"))?;
    let homepage = format!("https://github.com/{}", names.repository);
    let leftovers: String = LEFTOVERS.lines().map(|place| format!("    \"{place}\",\n")).collect();
    Some(format!(
        r#"cask "foretoken" do
  version "{version}"
  sha256 "{hash}"

  url "{address}"
  name "Foretoken"
  desc "Chat with Qwen models that answer faster by their own guesses"
  homepage "{homepage}"

  depends_on arch: :arm64
  depends_on macos: ">= :sonoma"

  app "Foretoken.app"

  uninstall quit: "{IDENTIFIER}"

  zap trash: [
{leftovers}  ]
end
"#
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cask_is_as_it_was_read_and_agreed_to() {
        let names = Names { repository: "somebody/foretoken".into(), ..Names::default() };
        let made = cask(&names, "1.2.3", "Foretoken_1.2.3_aarch64.dmg", &"0a".repeat(32)).unwrap();
        assert_eq!(made, include_str!("cask.golden.rb"));
        assert_eq!(cask(&Names::default(), "1.2.3", "a", "b"), None);
    }
}
