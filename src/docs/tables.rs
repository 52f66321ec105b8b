//! Reads the tables of a Markdown text whose first column holds flags.
//!
//! A cell is kept as its text and as the code spans in it: what stands in code is meant literally. What a column holds is
//! told by its heading.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// One row, that is about at least one flag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// In the text, from 1.
    pub line: u32,
    pub flags: Vec<String>,
    pub description: Option<Cell>,
    pub default: Option<Cell>,
    /// Choices or a type.
    pub options: Option<Cell>,
    /// Everything that the other columns say.
    pub rest: Vec<Cell>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    pub codes: Vec<String>,
}

/// What a column's heading begins with, and what the column is then.
const HEADINGS: &[(&str, Role)] = &[
    ("default", Role::Default),
    ("option", Role::Options),
    ("choice", Role::Options),
    ("type", Role::Options),
    ("value", Role::Options),
    ("possible", Role::Options),
    ("allowed", Role::Options),
    ("description", Role::Description),
    ("help", Role::Description),
    ("meaning", Role::Description),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Default,
    Options,
    Description,
    Rest,
}

/// All rows of all such tables, in the order of the text.
pub fn rows(text: &str) -> Vec<Row> {
    let lines = Lines::of(text);
    let mut rows = Vec::new();
    let mut roles: Vec<Role> = Vec::new();
    let mut cells: Vec<Cell> = Vec::new();
    let mut cell: Option<Cell> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::TableCell) => cell = Some(Cell::default()),
            Event::End(TagEnd::TableCell) => cells.extend(cell.take()),
            Event::End(TagEnd::TableHead) => roles = cells.drain(..).map(|cell| role(&cell.text)).collect(),
            Event::End(TagEnd::TableRow) => rows.extend(row(lines.at(&range), &roles, cells.drain(..))),
            event => {
                if let Some(cell) = &mut cell {
                    cell.push(&event);
                }
            }
        }
    }
    rows
}

impl Cell {
    fn push(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) => self.text.push_str(text),
            Event::Code(code) => {
                self.text.push_str(code);
                self.codes.push(code.trim().to_owned());
            }
            // A `<br>` or any other tag parts words.
            Event::InlineHtml(_) | Event::Html(_) | Event::SoftBreak | Event::HardBreak => self.text.push(' '),
            _ => {}
        }
    }
}

fn role(heading: &str) -> Role {
    let heading = heading.trim().to_lowercase();
    HEADINGS.iter().find(|(begins, _)| heading.starts_with(begins)).map_or(Role::Rest, |(_, role)| *role)
}

fn row(line: u32, roles: &[Role], cells: impl Iterator<Item = Cell>) -> Option<Row> {
    let mut row = Row { line, ..Row::default() };
    for (i, cell) in cells.enumerate() {
        if i == 0 {
            row.flags = flags(&cell.text);
            continue;
        }
        match roles.get(i).copied().unwrap_or(Role::Rest) {
            Role::Default if row.default.is_none() => row.default = Some(cell),
            Role::Options if row.options.is_none() => row.options = Some(cell),
            Role::Description if row.description.is_none() => row.description = Some(cell),
            _ => row.rest.push(cell),
        }
    }
    (!row.flags.is_empty()).then_some(row)
}

/// The words of a text that are long flags, without a value (`--size=N`, `--size N`).
fn flags(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '/' | '|' | '=' | '(' | ')' | '[' | ']'));
    let is_flag = |word: &&str| {
        word.strip_prefix("--").is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        })
    };
    words.filter(is_flag).map(str::to_owned).collect()
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn at(&self, range: &Range<usize>) -> u32 {
        let before = self.0.partition_point(|newline| *newline < range.start);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_flags_are_read_and_others_are_not() {
        let text = "# x\n\n| Argument | Description | Defaults | Options |\n| --- | --- | --- | --- |\n\
            | `--model-path`<br>`--model` | The *path*. | `None` | Type: str |\n| none | a | b | c |\n\n\
            | code | meaning |\n| --- | --- |\n| 1 | --x |\n";
        let found = rows(text);
        assert_eq!(found.len(), 1);
        let row = &found[0];
        assert_eq!((row.line, row.flags.join(" ").as_str()), (5, "--model-path --model"));
        assert_eq!(row.default.as_ref().unwrap().codes, ["None"]);
        assert_eq!(row.options.as_ref().unwrap().text, "Type: str");
        assert_eq!(row.description.as_ref().unwrap().text, "The path.");
    }
}
