//! From the figures of all rounds to a table: medians, ranges, and ratios of pairs of the same round.

use std::collections::BTreeMap;

/// What is measured, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measure {
    /// Seconds from a folder to a model that can be asked.
    Load,
    /// Prompt tokens per second.
    Prefill,
    /// The same, the MTP head reading along.
    PrefillDrafting,
    /// Decoded tokens per second without drafts.
    Plain,
    /// The same with this many drafts of the MTP head a step.
    Drafts(u8),
    /// The same with this many drafts of a draft model.
    Block(u8),
    /// The same with as many as the engine chooses.
    Auto,
}

/// What one process measured.
pub(super) type Figures = BTreeMap<Measure, f64>;

/// The figures of a program, round by round.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) program: &'static str,
    pub(super) rounds: Vec<Figures>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

type Cells = [String; 4];

impl Measure {
    fn label(self) -> String {
        match self {
            Self::Load => "load, s".into(),
            Self::Prefill => "prefill, tokens/s".into(),
            Self::PrefillDrafting => "prefill, MTP head too".into(),
            Self::Plain => "plain, tokens/s".into(),
            Self::Drafts(drafts) => format!("MTP {drafts}, tokens/s"),
            Self::Block(drafts) => format!("DFlash {drafts}, tokens/s"),
            Self::Auto => "Auto, tokens/s".into(),
        }
    }

    fn digits(self) -> usize {
        if self == Self::Load { 3 } else { 1 }
    }

    /// The figure of a program without drafts that this one is set beside.
    fn base(self) -> Self {
        match self {
            Self::Load => Self::Load,
            Self::Prefill | Self::PrefillDrafting => Self::Prefill,
            Self::Plain | Self::Drafts(_) | Self::Block(_) | Self::Auto => Self::Plain,
        }
    }
}

/// The table for people who read it in a terminal, or as Markdown.
pub(super) fn table(entries: &[Entry], base: &'static str, markdown: bool) -> String {
    let head = ["", "program", "median (min to max)", &format!("ratio to {base}'s")].map(str::to_owned);
    let rows = rows(entries, base);
    if markdown { in_markdown(&head, &rows) } else { in_columns(&head, &rows) }
}

/// A row for each figure that a program has in every round; those of a measure stand together, `base` first.
fn rows(entries: &[Entry], base: &str) -> Vec<Cells> {
    let measures: BTreeMap<Measure, ()> =
        entries.iter().flat_map(|entry| &entry.rounds).flatten().map(|(&measure, _)| (measure, ())).collect();
    let mut rows = Vec::new();
    for measure in measures.into_keys() {
        let mut label = measure.label();
        let (first, others): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.program == base);
        for entry in first.into_iter().chain(others) {
            let Some(values) = values(entry, measure) else { continue };
            let peers = entries
                .iter()
                .filter(|other| other.program == base)
                .find_map(|other| self::values(other, measure.base()));
            let ratio = match peers {
                Some(_) if entry.program == base && measure == measure.base() => "1".into(),
                Some(peers) => {
                    let pairs = values.iter().zip(&peers).map(|(value, peer)| value / peer);
                    spread(pairs.collect()).told(2)
                }
                None => "-".into(),
            };
            let program = entry.program.to_owned();
            rows.push([std::mem::take(&mut label), program, spread(values).told(measure.digits()), ratio]);
        }
    }
    rows
}

/// One of each round, if every round has it.
fn values(entry: &Entry, measure: Measure) -> Option<Vec<f64>> {
    let values: Option<Vec<f64>> =
        entry.rounds.iter().map(|figures| figures.get(&measure).copied()).collect();
    values.filter(|values| !values.is_empty())
}

fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_by(f64::total_cmp);
    let (n, at) = (values.len(), |i: usize| values.get(i).copied().unwrap_or(f64::NAN));
    let median = if n % 2 == 1 { at(n / 2) } else { (at((n / 2).wrapping_sub(1)) + at(n / 2)) / 2.0 };
    Spread { median, min: at(0), max: at(n.wrapping_sub(1)) }
}

impl Spread {
    fn told(self, digits: usize) -> String {
        let Self { median, min, max } = self;
        format!("{median:.digits$} ({min:.digits$} to {max:.digits$})")
    }
}

fn in_columns(head: &Cells, rows: &[Cells]) -> String {
    let width = |column: usize| {
        let cells = std::iter::once(head).chain(rows).map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(head).chain(rows) {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

fn in_markdown(head: &Cells, rows: &[Cells]) -> String {
    let line = |cells: &Cells| format!("| {} |\n", cells.join(" | "));
    let rule = "|---|---|---|---|\n".to_owned();
    std::iter::once(line(head)).chain([rule]).chain(rows.iter().map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(program: &'static str, rounds: &[&[(Measure, f64)]]) -> Entry {
        Entry { program, rounds: rounds.iter().map(|figures| figures.iter().copied().collect()).collect() }
    }

    /// The machine is half as fast in the second round.
    fn measured() -> Vec<Entry> {
        use Measure::{Auto, Drafts, Load, Plain, Prefill, PrefillDrafting};
        vec![
            entry(
                "Foretoken",
                &[
                    &[(Load, 0.5), (Prefill, 1000.0), (Plain, 200.0)],
                    &[(Load, 1.0), (Prefill, 500.0), (Plain, 100.0)],
                    &[(Load, 0.5), (Prefill, 1100.0), (Plain, 220.0)],
                ],
            ),
            entry(
                "Foretoken",
                &[
                    &[(PrefillDrafting, 900.0), (Drafts(1), 250.0), (Auto, 300.0)],
                    &[(PrefillDrafting, 450.0), (Drafts(1), 125.0), (Auto, 150.0)],
                    &[(PrefillDrafting, 900.0), (Drafts(1), 250.0), (Auto, 310.0)],
                ],
            ),
            entry(
                "mlx-lm",
                &[
                    &[(Load, 1.0), (Prefill, 1000.0), (Plain, 100.0)],
                    &[(Load, 2.0), (Prefill, 500.0), (Plain, 50.0)],
                    &[(Load, 1.0), (Prefill, 1000.0), (Plain, 100.0)],
                ],
            ),
        ]
    }

    #[test]
    fn ratios_are_of_pairs_of_the_same_round() {
        // Figures of different rounds would give ranges from 0.25 to 1 and more: a slow round is slow for all.
        let expected = "\
                       program    median (min to max)      ratio to mlx-lm's
load, s                mlx-lm     1.000 (1.000 to 2.000)   1
                       Foretoken  0.500 (0.500 to 1.000)   0.50 (0.50 to 0.50)
prefill, tokens/s      mlx-lm     1000.0 (500.0 to 1000.0)  1
                       Foretoken  1000.0 (500.0 to 1100.0)  1.00 (1.00 to 1.10)
prefill, MTP head too  Foretoken  900.0 (450.0 to 900.0)   0.90 (0.90 to 0.90)
plain, tokens/s        mlx-lm     100.0 (50.0 to 100.0)    1
                       Foretoken  200.0 (100.0 to 220.0)   2.00 (2.00 to 2.20)
MTP 1, tokens/s        Foretoken  250.0 (125.0 to 250.0)   2.50 (2.50 to 2.50)
Auto, tokens/s         Foretoken  300.0 (150.0 to 310.0)   3.00 (3.00 to 3.10)
";
        let squeezed = |text: &str| {
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            text.lines().map(words).collect::<Vec<_>>()
        };
        let text = table(&measured(), "mlx-lm", false);
        assert_eq!(squeezed(&text), squeezed(expected), "{text}");
        let ratios: Vec<Option<usize>> = text.lines().skip(1).map(|line| line.rfind("  ")).collect();
        assert!(ratios.windows(2).all(|pair| pair[0] == pair[1]), "columns stand below each other:\n{text}");
    }

    #[test]
    fn a_table_is_markdown_if_asked_for() {
        let rows = [entry("mlx-lm", &[&[(Measure::Plain, 50.0)]])];
        let expected = "\
|  | program | median (min to max) | ratio to mlx-lm's |
|---|---|---|---|
| plain, tokens/s | mlx-lm | 50.0 (50.0 to 50.0) | 1 |
";
        assert_eq!(table(&rows, "mlx-lm", true), expected);
    }

    #[test]
    fn without_the_peer_there_are_no_ratios() {
        let text = table(&measured()[..1], "mlx-lm", false);
        assert!(text.lines().skip(1).all(|line| line.ends_with('-')), "{text}");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(spread(vec![4.0, 1.0, 2.0, 9.0]), Spread { median: 3.0, min: 1.0, max: 9.0 });
    }
}
