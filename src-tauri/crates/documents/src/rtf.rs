//! Rich text: groups, control words and characters. Tables, headings and lists become Markdown; pictures and all other
//! destinations are passed over; of fonts only their encodings are read.

use std::collections::BTreeMap;

use encoding_rs::Encoding;

use crate::markdown::{Block, Markdown};

/// How deep groups may lie within each other; deeper ones belong to the deepest.
const DEEPEST: usize = 256;

/// The text of a document, whatever is wrong with it.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut reader = Rtf::default();
    reader.groups.push(Group { fallback: 1, ..Group::default() });
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        rest = match first {
            b'{' => {
                reader.flush();
                reader.open();
                after
            }
            b'}' => {
                reader.flush();
                reader.close();
                after
            }
            b'\\' => reader.control(after),
            b'\r' | b'\n' | 0 => after,
            byte => {
                reader.byte(*byte);
                after
            }
        };
    }
    reader.flush();
    reader.markdown.finish()
}

/// What holds within a group.
#[derive(Debug, Default, Clone)]
struct Group {
    /// What is in it is not shown.
    skipped: bool,
    hidden: bool,
    /// What is in it stands before an item of a list.
    is_marker: bool,
    is_note: bool,
    /// What is in it says what the fonts are.
    is_fonts: bool,
    /// The number of the font.
    font: Option<i32>,
    /// How many characters stand for one of Unicode, for readers that do not know that.
    fallback: usize,
}

#[derive(Default)]
struct Rtf {
    markdown: Markdown,
    groups: Vec<Group>,
    /// Groups that lie deeper than is kept track of.
    too_deep: usize,
    encoding: Option<&'static Encoding>,
    /// The encodings of the fonts that have one of their own, by their numbers.
    fonts: BTreeMap<i32, &'static Encoding>,
    /// The font of text that names none.
    font: Option<i32>,
    /// Characters in their encoding that have not been decoded, since one may take two.
    bytes: Vec<u8>,
    /// Characters to pass over, since one of Unicode stood before them.
    to_skip: usize,
    high_surrogate: Option<u16>,
    /// Whether the next word decides if the group is one that everyone has to know.
    optional: bool,
    marker: Option<String>,
    level: Option<usize>,
    in_table: bool,
    table_is_open: bool,
    cell_is_open: bool,
}

impl Rtf {
    fn group(&mut self) -> Option<&mut Group> {
        self.groups.last_mut()
    }

    fn open(&mut self) {
        let group = self.groups.last().cloned().unwrap_or_default();
        self.optional = false;
        if self.groups.len() < DEEPEST {
            self.groups.push(Group { is_marker: false, is_note: false, ..group });
        } else {
            self.too_deep += 1;
        }
    }

    fn close(&mut self) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
        } else if self.groups.len() > 1
            && let Some(group) = self.groups.pop()
        {
            if group.is_marker && !group.skipped {
                let marker = self.markdown.take_line();
                let marker = marker.trim();
                let numbered = marker.ends_with(['.', ')'])
                    && marker.chars().all(|c| c.is_ascii_alphanumeric() || c.is_ascii_punctuation());
                self.marker = Some(if numbered { marker.to_owned() } else { "-".to_owned() });
            }
            if group.is_note && !group.skipped {
                self.markdown.text("]");
            }
        }
        self.to_skip = 0;
    }

    /// Reads what follows a backslash, and returns what follows that.
    fn control<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, rest) = bytes.split_at(letters);
        let Ok(word) = std::str::from_utf8(word) else { return rest };
        if word.is_empty() {
            return self.symbol(rest);
        }
        let digits = rest
            .iter()
            .enumerate()
            .take_while(|(at, byte)| byte.is_ascii_digit() || (*at == 0 && **byte == b'-'));
        let (number, rest) = rest.split_at(digits.count());
        let number = std::str::from_utf8(number).ok().and_then(|digits| digits.parse::<i32>().ok());
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        self.flush();
        if word == "bin" {
            let length = number.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
            return rest.get(length..).unwrap_or_default();
        }
        self.word(word, number);
        rest
    }

    fn symbol<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let [symbol, rest @ ..] = bytes else { return bytes };
        if !matches!(symbol, b'\'' | b'\\' | b'{' | b'}') {
            self.flush();
        }
        match symbol {
            b'\'' => {
                let code = rest
                    .get(..2)
                    .and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
                let Some(code) = code else { return rest };
                self.byte(code);
                return rest.get(2..).unwrap_or_default();
            }
            b'*' => self.optional = true,
            b'~' => self.show("\u{a0}"),
            b'_' => self.show("-"),
            b'\r' | b'\n' => self.word("par", None),
            b'\\' | b'{' | b'}' => self.byte(*symbol),
            _ => {}
        }
        rest
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        let is_on = number != Some(0);
        let count = || number.and_then(|number| usize::try_from(number).ok());
        if std::mem::take(&mut self.optional) && !matches!(word, "shptxt" | "shpinst") {
            if word == "nesttableprops" {
                // It ends a row of a table within a cell.
                self.show("\n");
            }
            return self.skip();
        }
        match word {
            "fonttbl" => {
                self.skip();
                if let Some(group) = self.group() {
                    (group.is_fonts, group.font) = (true, None);
                }
            }
            "f" => {
                if let Some(group) = self.group() {
                    group.font = number;
                }
            }
            "deff" => self.font = number,
            "fcharset" => self.font_is_in(count().and_then(of_charset)),
            "cpg" => self.font_is_in(count().and_then(of_code_page)),
            "colortbl" | "stylesheet" | "info" | "pict" | "header" | "headerl" | "headerr" | "headerf"
            | "footer" | "footerl" | "footerr" | "footerf" | "object" | "fldinst" | "nonshppict"
            | "themedata" | "listtable" | "filetbl" | "revtbl" | "xe" | "tc" | "annotation" | "atnid"
            | "atnauthor" | "sn" | "sv" | "nonesttables" => {
                self.skip();
            }
            "ansicpg" => self.encoding = count().and_then(of_code_page),
            "mac" => self.encoding = Some(encoding_rs::MACINTOSH),
            "uc" => {
                if let Some(group) = self.group() {
                    group.fallback = count().unwrap_or(1).min(64);
                }
            }
            "u" => self.unicode(number.unwrap_or(0)),
            "v" => {
                if let Some(group) = self.group() {
                    group.hidden = is_on;
                }
            }
            "plain" => {
                if let Some(group) = self.group() {
                    (group.hidden, group.font) = (false, None);
                }
            }
            "listtext" | "pntext" => {
                if let Some(group) = self.group() {
                    group.is_marker = true;
                }
            }
            "footnote" => {
                self.show(" [Note: ");
                if let Some(group) = self.group() {
                    group.is_note = true;
                }
            }
            "par" | "sect" | "page" => self.end(),
            "pard" => (self.in_table, self.level) = (false, None),
            "outlinelevel" => self.level = count().filter(|level| *level < 9).map(|level| level + 1),
            "intbl" => self.in_table = true,
            "trowd" if !self.is_unseen() => {
                if !self.table_is_open {
                    self.end();
                    self.markdown.open_table();
                }
                (self.in_table, self.table_is_open) = (true, true);
            }
            "cell" if !self.is_unseen() => {
                self.enter();
                self.end();
                self.markdown.close_cell();
                self.cell_is_open = false;
            }
            "row" if !self.is_unseen() => {
                if self.table_is_open {
                    self.markdown.close_row();
                }
                self.cell_is_open = false;
            }
            "line" | "nestrow" => self.show("\n"),
            "tab" | "nestcell" => self.show("\t"),
            "emdash" => self.show("—"),
            "endash" => self.show("–"),
            "bullet" => self.show("•"),
            "lquote" => self.show("‘"),
            "rquote" => self.show("’"),
            "ldblquote" => self.show("“"),
            "rdblquote" => self.show("”"),
            "emspace" | "enspace" | "qmspace" => self.show(" "),
            _ => {}
        }
    }

    fn skip(&mut self) {
        if let Some(group) = self.group() {
            group.skipped = true;
        }
    }

    fn is_unseen(&self) -> bool {
        self.groups.last().is_some_and(|group| group.skipped || group.hidden)
    }

    fn byte(&mut self, byte: u8) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else if !self.is_unseen() {
            self.bytes.push(byte);
        }
    }

    /// Shows the characters that have been read, now that it is clear where the last one ends.
    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if !bytes.is_empty() {
            let font = self.groups.last().and_then(|group| group.font).or(self.font);
            let of_font = font.and_then(|font| self.fonts.get(&font)).copied();
            let encoding = of_font.or(self.encoding).unwrap_or(encoding_rs::WINDOWS_1252);
            self.show(&encoding.decode_without_bom_handling(&bytes).0);
        }
    }

    /// Takes the encoding of the font that is being described.
    fn font_is_in(&mut self, encoding: Option<&'static Encoding>) {
        let font = self.groups.last().filter(|group| group.is_fonts).and_then(|group| group.font);
        if let (Some(font), Some(encoding)) = (font, encoding) {
            self.fonts.insert(font, encoding);
        }
    }

    fn unicode(&mut self, number: i32) {
        self.to_skip = self.groups.last().map_or(1, |group| group.fallback);
        // Written as a number with a sign in 16 bits.
        let unit = (number & 0xffff) as u16;
        let units = self.high_surrogate.take().into_iter().chain([unit]);
        if (0xd800..0xdc00).contains(&unit) {
            self.high_surrogate = Some(unit);
            return;
        }
        let text: String = char::decode_utf16(units).flatten().collect();
        self.show(&text);
    }

    fn show(&mut self, text: &str) {
        if self.is_unseen() {
            return;
        }
        self.enter();
        self.markdown.text(text);
    }

    /// Enters the cell that what follows stands in, or leaves the table.
    fn enter(&mut self) {
        if self.table_is_open && !self.in_table {
            self.markdown.close_table();
            (self.table_is_open, self.cell_is_open) = (false, false);
        }
        if self.table_is_open && !self.cell_is_open {
            self.markdown.open_cell(1, 1);
            self.cell_is_open = true;
        }
    }

    /// Ends the line as what it is.
    fn end(&mut self) {
        if self.is_unseen() {
            return;
        }
        let block = match (self.level, self.marker.take()) {
            (Some(level), _) => Block::Heading(level),
            (None, Some(marker)) => Block::Item(0, marker),
            (None, None) => Block::Paragraph,
        };
        self.markdown.end(block);
    }
}

/// The encoding of a code page of Windows.
fn of_code_page(page: usize) -> Option<&'static Encoding> {
    Encoding::for_label(format!("windows-{page}").as_bytes()).or(match page {
        932 => Some(encoding_rs::SHIFT_JIS),
        936 => Some(encoding_rs::GBK),
        949 => Some(encoding_rs::EUC_KR),
        950 => Some(encoding_rs::BIG5),
        10_000 => Some(encoding_rs::MACINTOSH),
        65_001 => Some(encoding_rs::UTF_8),
        _ => None,
    })
}

/// The encoding of a character set, as fonts of Windows number them; none where it is that of the document.
fn of_charset(charset: usize) -> Option<&'static Encoding> {
    of_code_page(match charset {
        0 => 1252,
        77 => 10_000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}
