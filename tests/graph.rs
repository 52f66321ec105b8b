//! The picture of a flow: few boxes unless all are asked for, whole ways only, and texts that never act.

mod release;

use argtrace::meaning::report::{FieldReport, Flow, FlowEdge, FlowNode, Grade, Sink};
use argtrace::render::graph::{Detail, dot, mermaid, picture, svg};

const FULL: Detail = Detail { full: true, depth: None };
const LONG: &str = "self.pool = build_the_pool_of_this_process(size_of_the_host_cache, another_argument, <b>)";

/// A chain of functions that ends in host memory, and so many beside it that lead nowhere.
fn report(chain: u32, beside: u32) -> FieldReport {
    let node = |id: u32| FlowNode {
        id,
        path: format!("app/part{}.py", id % 7),
        line: id + 1,
        function: format!("function_{id}"),
        code: LONG.to_owned(),
        role: String::from(if id == 0 { "read" } else { "pass" }),
    };
    let edge = |from: u32, to: u32| FlowEdge {
        from,
        to,
        kind: String::from(if to == 1 { "spawn" } else { "argument" }),
        transform: (to == 2).then(|| String::from("* 1e9, // size_per_token_of_one_layer_and_of_all")),
        grade: if to == 3 { Grade::Inferred } else { Grade::Proved },
    };
    let edges = (1..chain).map(|to| edge(to - 1, to)).chain((chain..chain + beside).map(|to| edge(to % 5, to)));
    let last = node(chain - 1);
    FieldReport {
        field: String::from("cache_size"),
        flow: Some(Flow { nodes: (0..chain + beside).map(node).collect(), edges: edges.collect() }),
        sinks: vec![Sink {
            kind: String::from("host-memory"),
            path: last.path,
            line: last.line,
            code: String::from("torch.empty(size)"),
            grade: Grade::Proved,
        }],
        ..FieldReport::default()
    }
}

fn boxes(svg: &str) -> usize {
    svg.matches("<g class=\"").count()
}

#[test]
fn of_two_hundred_functions_the_way_to_the_sink_is_shown() {
    let report = report(6, 194);
    let drawn = svg(&picture(&report, Detail::default()));
    assert!((8..=16).contains(&boxes(&drawn)), "{} boxes", boxes(&drawn));
    for id in 0..6 {
        assert!(drawn.contains(&format!(">function_{id}<")), "function_{id} is on the way to the sink");
    }
    assert!(drawn.contains(">ends in host-memory<") && drawn.contains("more functions (--full shows all)"), "{drawn}");
    // Every function, the flag and the sink.
    assert_eq!(boxes(&svg(&picture(&report, FULL))), 202);
}

#[test]
fn depth_counts_links_from_the_flag() {
    let report = report(6, 0);
    let of = |depth| boxes(&svg(&picture(&report, Detail { full: false, depth: Some(depth) })));
    assert_eq!([of(1), of(3), of(6)], [2, 4, 8]);
}

#[test]
fn long_texts_end_in_an_ellipsis_and_are_whole_in_the_title() {
    let drawn = svg(&picture(&report(6, 0), Detail::default()));
    let whole = LONG.replace('<', "&lt;").replace('>', "&gt;");
    assert!(drawn.contains(&whole) && !drawn.contains("<b>"));
    let shown: Vec<&str> =
        drawn.split("<text class=\"code\"").skip(1).filter_map(|t| t.split(['>', '<']).nth(1)).collect();
    assert!(!shown.is_empty());
    for line in shown.iter().filter(|line| line.contains("self.pool")) {
        assert!(line.ends_with('…') && line.chars().count() < 50, "{line}");
    }
    assert!(drawn.contains("<title>* 1e9, // size_per_token_of_one_layer_and_of_all</title>"), "{drawn}");
    assert!(drawn.contains("new process") && drawn.contains("class=\"unsure\""));
}

#[test]
fn each_format_shows_the_same_boxes_and_links() {
    let picture = picture(&report(6, 30), Detail::default());
    let links = svg(&picture).matches("marker-end").count();
    assert_eq!(dot(&picture).matches(" -> ").count(), links);
    let mermaid = mermaid(&picture);
    assert_eq!(["-->", "-.->", "==>"].map(|arrow| mermaid.matches(arrow).count()).iter().sum::<usize>(), links);
    assert!(!mermaid.contains("<b>"));
}

#[test]
fn the_flow_of_a_release_is_taken_in_at_a_glance() {
    let Some(session) = release::open("0.5.9") else { return };
    let report = session.report(&[String::from("hicache_size")], &|_| ());
    let drawn = svg(&picture(&report.fields[0], Detail::default()));
    assert!((6..=17).contains(&boxes(&drawn)), "{} boxes", boxes(&drawn));
    assert!(drawn.contains("* 1e9") && drawn.contains(">ends in host-memory<"), "{drawn}");
    assert_eq!(drawn, svg(&picture(&report.fields[0], Detail::default())));
}
