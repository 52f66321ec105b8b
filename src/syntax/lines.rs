//! On which line and in which column does a byte stand?

/// Where the lines of a text start.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<u32>,
    is_ascii: bool,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let after = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32 + 1);
        Lines { text, starts: std::iter::once(0).chain(after).collect(), is_ascii: text.is_ascii() }
    }

    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line of a byte, from 1.
    pub fn line(&self, at: usize) -> u32 {
        self.starts.partition_point(|start| *start as usize <= at) as u32
    }

    /// The first byte of a line.
    pub fn start(&self, line: u32) -> usize {
        let index = (line as usize).saturating_sub(1);
        self.starts.get(index).map_or(self.text.len(), |start| *start as usize)
    }

    /// The line of a byte and its column in characters, both from 1.
    pub fn place(&self, at: usize) -> (u32, u32) {
        let line = self.line(at);
        let start = self.start(line);
        let column = match self.is_ascii {
            true => at - start,
            false => self.text.get(start..at).map_or(at - start, |before| before.chars().count()),
        };
        (line, column as u32 + 1)
    }
}
