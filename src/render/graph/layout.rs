//! Gives each box a place: in layers from left to right (Sugiyama, Tagawa and Toda, 1981).
//!
//! Boxes come in the order in which they are reached; a link to an earlier one is drawn, and does not count. A link over
//! several layers bends through a point in each, so that it passes between the boxes. The order in a layer follows the
//! mean place of the neighbours, a fixed number of times, so the work is bounded and the result always the same.

use super::picture::Picture;

pub(super) struct Layout {
    /// Left and top of each box.
    pub boxes: Vec<(f64, f64)>,
    /// The points of each link, from the right side of a box to the left side of another.
    pub links: Vec<Vec<(f64, f64)>>,
    pub width: f64,
    pub height: f64,
}

pub(super) const BOX_WIDTH: f64 = 300.0;
const LAYER_GAP: f64 = 110.0;
const ROW_GAP: f64 = 18.0;
const BEND_HEIGHT: f64 = 8.0;
const SWEEPS: usize = 12;
/// Bends beyond this are left out, and links go straight.
const MOST_BENDS: usize = 20_000;

/// A box, or a bend of a link.
struct Item {
    layer: usize,
    height: f64,
    before: Vec<usize>,
    after: Vec<usize>,
}

pub(super) fn layout(picture: &Picture, height: impl Fn(usize) -> f64) -> Layout {
    let layers = layers(picture);
    let item = |i: usize| Item { layer: layers[i], height: height(i), before: Vec::new(), after: Vec::new() };
    let mut items: Vec<Item> = (0..picture.boxes.len()).map(item).collect();
    let spans = picture.links.iter().map(|link| layers[link.to].saturating_sub(layers[link.from]).saturating_sub(1));
    let bends = spans.sum::<usize>() <= MOST_BENDS;
    let mut ways: Vec<Vec<usize>> = Vec::new();
    for link in &picture.links {
        let mut way = vec![link.from];
        let inner = layers[link.from] + 1..layers[link.to];
        for layer in inner.filter(|_| bends) {
            way.push(items.len());
            items.push(Item { layer, height: BEND_HEIGHT, before: Vec::new(), after: Vec::new() });
        }
        way.push(link.to);
        for pair in way.windows(2).filter(|_| layers[link.from] < layers[link.to]) {
            items[pair[0]].after.push(pair[1]);
            items[pair[1]].before.push(pair[0]);
        }
        ways.push(way);
    }
    let tops = tops(&items, &ordered(&items));
    let left = |layer: usize| layer as f64 * (BOX_WIDTH + LAYER_GAP);
    let points = |way: &Vec<usize>| {
        let last = way.len() - 1;
        let mut points = Vec::new();
        for (i, &at) in way.iter().enumerate() {
            let (x, y) = (left(items[at].layer), tops[at] + items[at].height / 2.0);
            match i {
                0 => points.push((x + BOX_WIDTH, y)),
                _ if i == last => points.push((x, y)),
                _ => points.extend([(x, y), (x + BOX_WIDTH, y)]),
            }
        }
        points
    };
    let last = layers.iter().max().copied().unwrap_or(0);
    Layout {
        links: ways.iter().map(points).collect(),
        boxes: (0..picture.boxes.len()).map(|i| (left(items[i].layer), tops[i])).collect(),
        width: left(last) + BOX_WIDTH,
        height: items.iter().zip(&tops).map(|(item, top)| top + item.height).fold(0.0, f64::max),
    }
}

/// The longest way from the flag, over links that lead on.
fn layers(picture: &Picture) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); picture.boxes.len()];
    picture.links.iter().filter(|link| link.from < link.to).for_each(|link| after[link.from].push(link.to));
    let mut layers = vec![0; picture.boxes.len()];
    for from in 0..layers.len() {
        for &to in &after[from] {
            layers[to] = layers[to].max(layers[from] + 1);
        }
    }
    layers
}

/// The items of each layer from top to bottom.
fn ordered(items: &[Item]) -> Vec<Vec<usize>> {
    let count = items.iter().map(|item| item.layer + 1).max().unwrap_or(0);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); count];
    items.iter().enumerate().for_each(|(i, item)| layers[item.layer].push(i));
    let mut place = vec![0.0; items.len()];
    let number = |layer: &[usize], place: &mut Vec<f64>| {
        layer.iter().enumerate().for_each(|(at, &i)| place[i] = (at as f64 + 0.5) / layer.len() as f64);
    };
    layers.iter().for_each(|layer| number(layer, &mut place));
    for sweep in 0..SWEEPS {
        let forwards = sweep % 2 == 0;
        for step in 0..count {
            let layer = &mut layers[if forwards { step } else { count - 1 - step }];
            let wanted = |i: usize| {
                let near = if forwards { &items[i].before } else { &items[i].after };
                match near.is_empty() {
                    true => place[i],
                    false => near.iter().map(|&n| place[n]).sum::<f64>() / near.len() as f64,
                }
            };
            let mut keyed: Vec<(f64, usize)> = layer.iter().map(|&i| (wanted(i), i)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *layer = keyed.into_iter().map(|(_, i)| i).collect();
            number(layer, &mut place);
        }
    }
    layers
}

/// The top of each item: stacked, and each layer moved so that links run as level as its order allows.
fn tops(items: &[Item], layers: &[Vec<usize>]) -> Vec<f64> {
    let mut tops = vec![0.0; items.len()];
    let total = |layer: &[usize]| layer.iter().map(|&i| items[i].height + ROW_GAP).sum::<f64>() - ROW_GAP;
    let tallest = layers.iter().map(|layer| total(layer)).fold(0.0, f64::max);
    for layer in layers {
        let mut at = (tallest - total(layer)) / 2.0;
        for &i in layer {
            tops[i] = at;
            at += items[i].height + ROW_GAP;
        }
    }
    for sweep in 0..SWEEPS {
        for step in 0..layers.len() {
            let forwards = sweep % 2 == 0;
            let layer = &layers[if forwards { step } else { layers.len() - 1 - step }];
            let wanted: Vec<f64> = layer
                .iter()
                .map(|&i| {
                    let near = if forwards { &items[i].before } else { &items[i].after };
                    let middle = |n: &usize| tops[*n] + items[*n].height / 2.0;
                    match near.is_empty() {
                        true => tops[i],
                        false => near.iter().map(middle).sum::<f64>() / near.len() as f64 - items[i].height / 2.0,
                    }
                })
                .collect();
            settle(layer, &wanted, items, tallest, &mut tops);
        }
    }
    let above = tops.iter().copied().fold(f64::INFINITY, f64::min);
    tops.iter_mut().for_each(|top| *top -= above);
    tops
}

/// As near to where they want to be as their order and the height of the picture allow.
fn settle(layer: &[usize], wanted: &[f64], items: &[Item], tallest: f64, tops: &mut [f64]) {
    let mut least = 0.0;
    for (&i, &wanted) in layer.iter().zip(wanted) {
        tops[i] = wanted.max(least);
        least = tops[i] + items[i].height + ROW_GAP;
    }
    let mut most = tallest;
    for &i in layer.iter().rev() {
        tops[i] = tops[i].min(most - items[i].height);
        most = tops[i] - ROW_GAP;
    }
}
