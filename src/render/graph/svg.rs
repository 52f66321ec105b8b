//! The picture as SVG that stands on its own: no script, no font, nothing from elsewhere, light and dark.

use std::fmt::Write;

use super::layout::{BOX_WIDTH, layout};
use super::picture::{Box, Kind, Link, Picture};
use crate::meaning::report::Grade;
use crate::render::html::escaped;
use crate::render::wrap::cut;

const MARGIN: f64 = 16.0;
const HEAD: f64 = 46.0;
const LINE: f64 = 15.0;
/// What the caption and the legend need.
const LEAST_WIDTH: f64 = 640.0;
/// Characters that fit in a box.
const FITS: usize = 44;
/// The same for a title, which is bold.
const NAME_FITS: usize = 36;
/// Characters of a label that fit between two boxes.
const LABEL_FITS: usize = 26;

/// For a page that holds drawings; a picture that stands alone has it inside.
pub(in crate::render) const STYLE: &str = "\
.flow{--ink:#1c2128;--dim:#57606a;--paper:#fff;--box:#f6f8fa;--edge:#8c959f;--flag:#0550ae;--read:#1a7f37;--sink:#bc4c00}\
@media(prefers-color-scheme:dark){.flow{--ink:#e6edf3;--dim:#9da7b3;--paper:#0d1117;--box:#161b22;--edge:#6e7681;\
--flag:#79c0ff;--read:#56d364;--sink:#ffa657}}\
.flow text{font:12px ui-sans-serif,system-ui,'DejaVu Sans',sans-serif;fill:var(--ink)}\
.flow .code{font:11px ui-monospace,'DejaVu Sans Mono',monospace}\
.flow .dim{fill:var(--dim);font-size:11px}.flow .name{font-weight:600}\
.flow rect{fill:var(--box);stroke:var(--edge)}.flow .paper{fill:var(--paper);stroke:none}\
.flow .flag rect{stroke:var(--flag);stroke-width:2}.flow .read rect{stroke:var(--read);stroke-width:2}\
.flow .sink rect{stroke:var(--sink);stroke-width:2}\
.flow path{fill:none;stroke:var(--edge);stroke-width:1.3}.flow .unsure{stroke-dasharray:5 4}.flow .spawn{stroke:var(--flag);stroke-width:2.4}\
.flow .tip{fill:var(--edge);stroke:none}.flow .label{paint-order:stroke;stroke:var(--paper);stroke-width:4px}";

pub fn svg(picture: &Picture) -> String {
    drawn(picture, &format!("<style>{STYLE}</style>\n"))
}

/// The picture for a page that has its styles.
pub(in crate::render) fn drawing(picture: &Picture) -> String {
    drawn(picture, "")
}

fn drawn(picture: &Picture, style: &str) -> String {
    let places = layout(picture, |i| height(&picture.boxes[i]));
    let (width, height) =
        (places.width.max(LEAST_WIDTH) + 2.0 * MARGIN, places.height + HEAD + LINE * 2.0 + 2.0 * MARGIN);
    let mut out = String::new();
    let title = format!("The flow of {}", picture.title);
    push(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flow\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" aria-label=\"{}\">\n<title>{}</title>\n{style}\
             <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
             <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
            escaped(&title),
            escaped(&title),
        ),
    );
    text(&mut out, MARGIN, MARGIN + 14.0, "name", &title);
    // Six units are the mean width of a character in small print.
    text(&mut out, MARGIN, MARGIN + 31.0, "dim", &cut(&picture.caption, ((width - 2.0 * MARGIN) / 6.0) as usize));
    push(&mut out, format_args!("<g transform=\"translate({MARGIN} {})\">\n", HEAD + MARGIN));
    for (link, points) in picture.links.iter().zip(&places.links) {
        path(&mut out, link, points);
    }
    for (drawn, (x, y)) in picture.boxes.iter().zip(&places.boxes) {
        boxed(&mut out, drawn, *x, *y);
    }
    // Over the boxes, so that none hides a word.
    for (link, points) in picture.links.iter().zip(&places.links) {
        label(&mut out, link, points);
    }
    out.push_str("</g>\n");
    let mut legend = String::from("dashed: inferred; thick: into a new process");
    let hidden: Vec<String> = [(picture.hidden, "functions"), (picture.hidden_sinks, "kinds of sinks")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} more {what}"))
        .collect();
    if !hidden.is_empty() {
        legend = format!("left out: {} (--full shows all); {legend}", hidden.join(", "));
    }
    text(&mut out, MARGIN, height - MARGIN, "dim", &legend);
    out.push_str("</svg>\n");
    out
}

fn height(drawn: &Box) -> f64 {
    let lines = drawn.lines.len() + usize::from(!drawn.path.is_empty()) + usize::from(drawn.more > 0);
    26.0 + LINE * lines as f64 + 4.0
}

fn boxed(out: &mut String, drawn: &Box, x: f64, y: f64) {
    let class = match drawn.kind {
        Kind::Flag => "flag",
        Kind::Read => "read",
        Kind::Step => "step",
        Kind::Sink => "sink",
    };
    let whole = [&drawn.title, &drawn.path].into_iter().chain(&drawn.lines).filter(|text| !text.is_empty());
    let whole: Vec<String> = whole.map(|text| escaped(text)).collect();
    push(
        out,
        format_args!(
            "<g class=\"{class}\" transform=\"translate({x:.1} {y:.1})\"><title>{}</title><rect width=\"{BOX_WIDTH}\" height=\"{}\" rx=\"5\"/>\n",
            whole.join("\n"),
            height(drawn)
        ),
    );
    let title = if drawn.kind == Kind::Sink { format!("ends in {}", drawn.title) } else { drawn.title.clone() };
    text(out, 9.0, 18.0, "name", &cut(&title, NAME_FITS));
    let mut at = 18.0;
    if !drawn.path.is_empty() {
        at += LINE;
        text(out, 9.0, at, "dim", &from_the_end(&drawn.path, FITS));
    }
    for line in &drawn.lines {
        at += LINE;
        text(out, 9.0, at, "code", &cut(line, FITS - 3));
    }
    if drawn.more > 0 {
        text(out, 9.0, at + LINE, "dim", &format!("… {} more lines", drawn.more));
    }
    out.push_str("</g>\n");
}

/// The end of a path is what tells it apart.
fn from_the_end(path: &str, most: usize) -> String {
    let count = path.chars().count();
    match count > most {
        true => format!("…{}", path.chars().skip(count - most + 1).collect::<String>()),
        false => path.to_owned(),
    }
}

fn path(out: &mut String, link: &Link, points: &[(f64, f64)]) {
    let mut line = String::new();
    for (i, pair) in points.windows(2).enumerate() {
        let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
        if i == 0 {
            push(&mut line, format_args!("M{x:.1} {y:.1}"));
        }
        // Back links swing out, others leave and arrive level.
        let reach = ((to_x - x).abs() / 2.0).clamp(30.0, 90.0);
        push(&mut line, format_args!("C{:.1} {y:.1} {:.1} {to_y:.1} {to_x:.1} {to_y:.1}", x + reach, to_x - reach));
    }
    let class = match (link.spawn, link.grade < Grade::Proved) {
        (true, true) => " class=\"spawn unsure\"",
        (true, false) => " class=\"spawn\"",
        (false, true) => " class=\"unsure\"",
        (false, false) => "",
    };
    push(out, format_args!("<path{class} d=\"{line}\" marker-end=\"url(#tip)\"/>\n"));
}

fn label(out: &mut String, link: &Link, points: &[(f64, f64)]) {
    let said = [link.label.as_str(), if link.spawn { "new process" } else { "" }];
    let said = said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ");
    if let (false, [(x, y), (to_x, to_y), ..]) = (said.is_empty(), points) {
        let at = ((x + to_x) / 2.0, (y + to_y) / 2.0 - 4.0);
        push(
            out,
            format_args!(
                "<text class=\"code label\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}<title>{}</title></text>\n",
                at.0,
                at.1,
                escaped(&cut(&said, LABEL_FITS)),
                escaped(&said)
            ),
        );
    }
}

fn text(out: &mut String, x: f64, y: f64, class: &str, text: &str) {
    push(out, format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escaped(text)));
}

fn push(out: &mut String, piece: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(piece);
}
