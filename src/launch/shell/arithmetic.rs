//! `$((…))`: whole numbers, variables, `+ - * / % **` and parentheses.
//!
//! Whatever else stands in it has no value here.

/// The value, if all of it is known.
pub fn value(text: &str, variable: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    let chars: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut run = Run { chars: &chars, at: 0, depth: 0, variable };
    let value = run.sum()?;
    (run.at == chars.len()).then_some(value)
}

struct Run<'c> {
    chars: &'c [char],
    at: usize,
    depth: u32,
    variable: &'c dyn Fn(&str) -> Option<i64>,
}

const MAX_NESTING: u32 = 40;

impl Run<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn sum(&mut self) -> Option<i64> {
        let mut left = self.product()?;
        while let Some(op @ ('+' | '-')) = self.peek() {
            self.at += 1;
            let right = self.product()?;
            left = if op == '+' { left.checked_add(right)? } else { left.checked_sub(right)? };
        }
        Some(left)
    }

    fn product(&mut self) -> Option<i64> {
        let mut left = self.power()?;
        while let Some(op @ ('*' | '/' | '%')) = self.peek() {
            self.at += 1;
            let right = self.power()?;
            left = match op {
                '*' => left.checked_mul(right)?,
                '/' => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.unit()?;
        if self.peek() == Some('*') && self.chars.get(self.at + 1) == Some(&'*') {
            self.at += 2;
            self.depth += 1;
            if self.depth > MAX_NESTING {
                return None;
            }
            let exponent = self.power()?;
            self.depth -= 1;
            return base.checked_pow(u32::try_from(exponent).ok()?);
        }
        Some(base)
    }

    fn unit(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return None;
        }
        let value = match self.peek()? {
            '(' => {
                self.at += 1;
                let value = self.sum()?;
                (self.peek()? == ')').then_some(())?;
                self.at += 1;
                value
            }
            '-' => {
                self.at += 1;
                self.unit()?.checked_neg()?
            }
            '+' => {
                self.at += 1;
                self.unit()?
            }
            c if c.is_ascii_digit() => {
                let text = self.take(|c| c.is_ascii_alphanumeric());
                match (text.strip_prefix("0x"), text.strip_prefix('0')) {
                    (Some(hex), _) => i64::from_str_radix(hex, 16).ok()?,
                    (None, Some(octal)) if !octal.is_empty() => i64::from_str_radix(octal, 8).ok()?,
                    _ => text.parse().ok()?,
                }
            }
            '$' | '_' | 'a'..='z' | 'A'..='Z' => {
                if self.peek() == Some('$') {
                    self.at += 1;
                }
                let braced = self.peek() == Some('{');
                self.at += usize::from(braced);
                let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
                if braced {
                    (self.peek()? == '}').then_some(())?;
                    self.at += 1;
                }
                (self.variable)(&name)?
            }
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }

    fn take(&mut self, test: impl Fn(char) -> bool) -> String {
        let mut out = String::new();
        while let Some(c) = self.peek().filter(|c| test(*c)) {
            out.push(c);
            self.at += 1;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_computed_as_a_shell_does() {
        let variable = |name: &str| (name == "TP").then_some(4);
        for (text, expected) in [
            ("1 + 2 * 3", Some(7)),
            ("(1+2)*TP", Some(12)),
            ("$TP - ${TP}", Some(0)),
            ("2 ** 3 ** 2", Some(512)),
            ("-7 / 2", Some(-3)),
            ("1 / 0", None),
            ("X + 1", None),
            ("1 +", None),
            ("TP > 2", None),
        ] {
            assert_eq!(value(text, &variable), expected, "{text}");
        }
    }
}
