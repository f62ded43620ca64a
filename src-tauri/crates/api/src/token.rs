//! The token by which a program shows that its person lets it use the model.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// What tokens begin with that are made here.
const PREFIX: &str = "ft-";
/// Random bytes of a token.
const BYTES: usize = 32;
/// The longest token, in bytes.
const LONGEST: usize = 512;

/// A token. It is compared by a MAC with a key of its own, which takes the same time whatever is presented.
#[derive(Clone)]
pub struct Token {
    text: String,
    key: hmac::Key,
    tag: hmac::Tag,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A new one.
    pub fn generate() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| no_randomness())?;
        Self::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The token that a person has chosen: 1 to 512 visible ASCII characters.
    pub fn parse(text: &str) -> Option<Self> {
        let is_token =
            (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_token.then(|| Self::new(text.to_owned()).ok()).flatten()
    }

    fn new(text: String) -> io::Result<Self> {
        let key =
            hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).map_err(|_| no_randomness())?;
        let tag = hmac::sign(&key, text.as_bytes());
        Ok(Self { text, key, tag })
    }

    /// The token in a file that only its owner can read; it is made where there is none.
    pub fn read_or_create(file: &Path) -> io::Result<Self> {
        let in_file = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
        match fs::read(file) {
            Ok(bytes) => {
                str::from_utf8(&bytes).ok().and_then(|text| Self::parse(text.trim())).ok_or_else(|| {
                    let words =
                        format!("{} holds no token: 1 to {LONGEST} visible characters", file.display());
                    io::Error::new(io::ErrorKind::InvalidData, words)
                })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = Self::generate()?;
                token.write_new(file).map_err(in_file)?;
                Ok(token)
            }
            Err(error) => Err(in_file(error)),
        }
    }

    /// Keeps this token in a file that only its owner can read, in place of the one before.
    pub fn replace(&self, file: &Path) -> io::Result<()> {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.write_new(file),
        }
    }

    fn write_new(&self, file: &Path) -> io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = fs::OpenOptions::new();
        let mut made = options.write(true).create_new(true).mode(0o600).open(file)?;
        writeln!(made, "{}", self.text)
    }

    /// The token itself, for whoever keeps it or hands it to a program.
    pub fn secret(&self) -> &str {
        &self.text
    }

    /// Whether `presented` is this token.
    pub(crate) fn matches(&self, presented: &[u8]) -> bool {
        hmac::verify(&self.key, presented, self.tag.as_ref()).is_ok()
    }
}

fn no_randomness() -> io::Error {
    io::Error::other("the system gives no random bytes")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_itself_and_nothing_else() {
        let token = Token::generate().unwrap();
        assert!(token.text.starts_with("ft-") && token.text.len() == 3 + 43, "{}", token.text);
        assert_ne!(token.text, Token::generate().unwrap().text);
        assert!(token.matches(token.text.as_bytes()));
        for other in ["", "ft-", &token.text[1..], &format!("{} ", token.text)] {
            assert!(!token.matches(other.as_bytes()), "{other}");
        }
        assert!(!format!("{token:?}").contains(&token.text[3..]));
        for text in ["", "a b", "ä", &"a".repeat(513)] {
            assert!(Token::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_file_is_made_once_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/token");
        let made = Token::read_or_create(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(made.matches(Token::read_or_create(&file).unwrap().text.as_bytes()));
        let other = Token::generate().unwrap();
        other.replace(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(other.matches(Token::read_or_create(&file).unwrap().secret().as_bytes()));
        fs::write(&file, "\n").unwrap();
        let error = Token::read_or_create(&file).unwrap_err();
        assert!(error.to_string().contains("holds no token"), "{error}");
    }
}
