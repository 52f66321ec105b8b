//! `audit` and `budget` on real releases: the launch that took a machine down is stopped by one line, and the largest
//! value that the machine bears is a sum that anyone can check.

mod console;
mod release;

use argtrace::cli::Options;
use argtrace::cli::audit::{AuditCommand, FailOn};
use argtrace::cli::budget::BudgetCommand;
use argtrace::cli::exit::Exit;
use argtrace::cli::output::Format;
use argtrace::cli::session::installed;
use console::options;
use serde_json::Value;

fn json() -> Options {
    let mut options = Options { quiet: true, ..options() };
    options.output.format = Some(Format::Json);
    options
}

/// A document of a release; `None` only where releases cannot be had.
fn audit(version: &str, command: &[&str], facts: &[&str], fail_on: FailOn) -> Option<(Exit, Value, String)> {
    release::open(version)?;
    let command = AuditCommand {
        source: Some(format!("sglang=={version}")),
        command: ["python3", "-m", "sglang.launch_server"].iter().chain(command).map(ToString::to_string).collect(),
        file: None,
        sets: Vec::new(),
        facts: facts.iter().map(|f| f.parse().unwrap()).collect(),
        fail_on,
    };
    let (options, backend) = (json(), installed(true).unwrap());
    let (exit, out, err) = console::run(None, &options, |console| command.run(&options, &backend, console));
    let document = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
    Some((exit, document, out))
}

fn findings<'v>(document: &'v Value, code: &str) -> Vec<&'v Value> {
    let all = document["launches"][0]["findings"].as_array().unwrap();
    all.iter().filter(|f| f["code"] == code).collect()
}

fn budget(version: &str, operands: &[&str]) -> Option<(Exit, Value)> {
    release::open(version)?;
    let source = format!("sglang=={version}");
    let command = BudgetCommand {
        operands: ["hicache_size", &source].iter().chain(operands).map(ToString::to_string).collect(),
        host_memory: "445GB".into(),
        reserve: "40GB".into(),
        margin: "25GB".into(),
        sets: vec!["tp_size=8".parse().unwrap()],
    };
    let (options, backend) = (json(), installed(true).unwrap());
    let (exit, out, err) = console::run(None, &options, |console| command.run(&options, &backend, console));
    Some((exit, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"))))
}

/// 300 GB, meant for the machine, are pinned by each of eight ranks.
fn incident(version: &str) {
    let command = ["--model-path", "m", "--tp", "8", "--enable-hierarchical-cache", "--hicache-size", "300"];
    let Some((exit, document, _)) = audit(version, &command, &["host_memory=449GB"], FailOn::Warning) else { return };
    assert_eq!(exit, Exit::Findings);
    let exceeds = findings(&document, "exceeds-host-memory");
    assert_eq!(exceeds.len(), 1, "{document:#}");
    assert_eq!((&exceeds[0]["total"], &exceeds[0]["level"]), (&"2400 GB".into(), &"error".into()));
    let message = exceeds[0]["message"].as_str().unwrap();
    assert!(message.contains("8 of them here: 2400 GB") && message.contains("the host has 449 GB"), "{message}");
}

/// (445 GB - 40 GB - 25 GB) / 8 = 47.5 GB, and the field takes whole ones.
fn largest(version: &str) {
    let Some((exit, document)) = budget(version, &[]) else { return };
    assert_eq!(exit, Exit::Clean);
    assert_eq!(document["largest"], 47, "{document:#}");
    assert_eq!((&document["total"], &document["available"]), (&"376 GB".into(), &"380 GB".into()));
    assert_eq!(document["holders"]["count"], 8);
    let checks = document["checks"].as_array().unwrap();
    assert!(checks.iter().any(|c| c["message"].as_str().is_some_and(|m| m.contains("Not enough host memory"))));
}

#[test]
fn the_incident_on_0_4_6() {
    incident("0.4.6");
}

#[test]
fn the_incident_on_0_5_9() {
    incident("0.5.9");
}

#[test]
fn the_incident_on_0_5_12() {
    incident("0.5.12");
}

#[test]
fn the_incident_on_0_5_23() {
    incident("0.5.23");
}

#[test]
fn the_largest_value_on_0_4_6() {
    largest("0.4.6");
}

#[test]
fn the_largest_value_on_0_5_9() {
    largest("0.5.9");
}

#[test]
fn the_largest_value_on_0_5_12() {
    largest("0.5.12");
}

#[test]
fn the_largest_value_on_0_5_23() {
    largest("0.5.23");
}

#[test]
fn a_value_that_does_not_fit_is_a_finding() {
    let Some((exit, document)) = budget("0.5.9", &["300"]) else { return };
    assert_eq!((exit, &document["fits"], &document["total"]), (Exit::Findings, &false.into(), &"2400 GB".into()));
}

#[test]
fn a_plain_command_is_silent() {
    let command =
        ["--model-path", "m", "--host", "0.0.0.0", "--port", "30000", "--tp-size", "2", "--log-level", "info"];
    let Some((exit, document, _)) = audit("0.5.9", &command, &[], FailOn::Note) else { return };
    assert_eq!((exit, &document["launches"][0]["findings"]), (Exit::Clean, &Value::Array(Vec::new())));
}

#[test]
fn the_exit_code_is_what_fail_on_says() {
    let command = ["--model-path", "m", "--port", "1", "--port", "2"];
    for (fail_on, expected) in [
        (FailOn::Error, Exit::Clean),
        (FailOn::Warning, Exit::Findings),
        (FailOn::Note, Exit::Findings),
        (FailOn::Never, Exit::Clean),
    ] {
        let Some((exit, document, _)) = audit("0.5.9", &command, &[], fail_on) else { return };
        assert_eq!(exit, expected, "{document:#}");
        assert_eq!(findings(&document, "repeated-flag").len(), 1);
    }
}

#[test]
fn a_key_is_never_printed() {
    let command = ["--model-path", "m", "--api-key", "sk-hidden-1", "--admin-api-key=sk-hidden-2"];
    let Some((_, _, out)) = audit("0.5.9", &command, &[], FailOn::Warning) else { return };
    assert!(!out.contains("sk-hidden"), "{out}");
}

/// A launch with one fault, what must be said of it, and the near launch of which that must not be said.
struct Case {
    version: &'static str,
    faulty: &'static str,
    code: &'static str,
    field: &'static str,
    /// The effective value as JSON, where it is what the case is about.
    effective: Option<&'static str>,
    sound: &'static str,
}

const fn case(
    version: &'static str,
    faulty: &'static str,
    (code, field, effective): (&'static str, &'static str, Option<&'static str>),
    sound: &'static str,
) -> Case {
    Case { version, faulty, code, field, effective, sound }
}

const fn violated(field: &'static str) -> (&'static str, &'static str, Option<&'static str>) {
    ("constraint-violated", field, None)
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Checks at start-up.
    case("0.5.9", "--tp-size 8 --enable-two-batch-overlap", violated("enable_two_batch_overlap"), "--tp-size 8 --enable-two-batch-overlap --moe-a2a-backend mooncake"),
    case("0.5.9", "--enable-priority-scheduling --schedule-policy lpm", violated("schedule_policy"), "--enable-priority-scheduling --schedule-policy fcfs"),
    case("0.5.9", "--moe-dense-tp-size 2", violated("moe_dense_tp_size"), "--moe-dense-tp-size 1"),
    case("0.5.12", "--swa-full-tokens-ratio 1.5", violated("swa_full_tokens_ratio"), "--swa-full-tokens-ratio 0.8"),
    case("0.5.9", "--encoder-only --language-only --encoder-urls http://a", violated("encoder_only"), "--encoder-only"),
    case("0.5.9", "--language-only", violated("language_only"), "--language-only --encoder-urls http://a"),
    case("0.5.9", "--enable-prefix-mm-cache", violated("enable_prefix_mm_cache"), "--enable-prefix-mm-cache --encoder-only"),
    case("0.5.12", "--gpu-id-step 0", violated("gpu_id_step"), "--gpu-id-step 2"),
    case("0.5.9", "--export-metrics-to-file", violated("export_metrics_to_file"), "--export-metrics-to-file --export-metrics-to-file-dir /m"),
    case("0.5.9", "--tp-size 8 --attn-cp-size 3", violated("attn_cp_size"), "--tp-size 8 --attn-cp-size 2"),
    case("0.5.9", "--tp-size 8 --moe-dp-size 3", violated("moe_dp_size"), "--tp-size 8 --moe-dp-size 2"),
    case("0.5.9", "--enable-pdmux", violated("enable_pdmux"), "--enable-pdmux --chunked-prefill-size -1 --disable-overlap-schedule"),
    case("0.5.9", "--multi-item-scoring-delimiter 5", violated("multi_item_scoring_delimiter"), "--multi-item-scoring-delimiter 5 --disable-radix-cache --chunked-prefill-size -1"),
    case("0.5.9", "--tp-size 8 --enable-eplb", violated("enable_eplb"), "--tp-size 8 --ep-size 8 --enable-eplb"),
    case("0.5.12", "--tokenizer-worker-num 0", violated("tokenizer_worker_num"), "--tokenizer-worker-num 2"),
    case("0.5.9", "--disaggregation-decode-enable-offload-kvcache", violated("disaggregation_decode_enable_offload_kvcache"), ""),
    // Values that do not stay.
    case("0.5.9", "--tp-size 8 --enable-dp-lm-head", ("rewritten", "enable_dp_lm_head", Some("false")), "--tp-size 8 --dp-size 8 --enable-dp-attention --enable-dp-lm-head"),
    case("0.5.9", "--load-format remote_instance", ("rewritten", "load_format", Some("\"auto\"")), "--load-format dummy"),
    // Where another device's part, another function's early return or an error's handler would say otherwise.
    case("0.5.9", "--tp-size 8 --dp-size 8 --enable-dp-attention --scheduler-recv-interval 2", violated("enable_dp_attention"), "--tp-size 8 --dp-size 8 --enable-dp-attention"),
    case("0.5.9", "--enable-lora --lora-target-modules all", ("rewritten", "lora_target_modules", None), "--enable-lora --lora-target-modules q_proj"),
    case("0.5.9", "--tool-call-parser qwen25", ("rewritten", "tool_call_parser", Some("\"qwen\"")), "--tool-call-parser qwen"),
    case("0.5.9", "--pp-size 4 --max-running-requests 128", ("divided", "max_running_requests", Some("32")), "--tp-size 4 --nnodes 2 --node-rank 1 --dist-init-addr h:1"),
    // Parsing.
    case("0.5.12", "--grammar-backend guidance", ("invalid-choice", "grammar_backend", None), "--grammar-backend xgrammar"),
    case("0.5.12", "--stream-interval often", ("invalid-value", "stream_interval", None), "--stream-interval 4"),
    case("0.5.9", "--kv-cache auto", ("abbreviated-flag", "kv_cache_dtype", None), "--kv-cache-dtype auto"),
];

/// Launches of the public guides in which nothing is wrong: no error, no warning.
#[rustfmt::skip]
const SOUND: &[(&str, &str)] = &[
    ("0.5.9", "--tp-size 8 --dp-size 8 --enable-dp-attention --mem-fraction-static 0.85"),
    ("0.5.9", "--tp-size 16 --dist-init-addr 10.0.0.1:5000 --nnodes 2 --node-rank 0"),
    ("0.5.9", "--tp-size 16 --dist-init-addr 10.0.0.1:5000 --nnodes 2 --node-rank 1"),
    ("0.5.9", "--device cuda --page-size 64 --enable-hierarchical-cache --hicache-ratio 2 --hicache-mem-layout page_first --hicache-io-backend kernel --hicache-storage-backend mooncake --hicache-write-policy write_through"),
    ("0.5.9", "--device cuda --page-size 64 --enable-hierarchical-cache --hicache-ratio 2 --hicache-mem-layout page_first_direct --hicache-io-backend direct --hicache-storage-backend hf3fs"),
    ("0.5.9", "--grammar-backend xgrammar --reasoning-parser qwen3 --context-length 32768"),
    ("0.5.9", "--device cuda --attention-backend fa3 --enable-deterministic-inference --tp-size 2"),
    ("0.5.9", "--enable-metrics --log-requests --log-requests-level 2 --decode-log-interval 10 --collect-tokens-histogram"),
    ("0.5.9", "--tp-size 8 --ep-size 8 --moe-a2a-backend deepep --enable-eplb --ep-num-redundant-experts 32"),
    ("0.5.9", "--disaggregation-mode prefill --disaggregation-ib-device mlx5_0 --host 10.0.0.1 --port 30000"),
    ("0.5.9", "--speculative-algorithm EAGLE --speculative-draft-model-path d --speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 16 --cuda-graph-max-bs 8"),
    ("0.5.9", "--enable-lora --lora-paths a=b c=d --max-loras-per-batch 2"),
    ("0.5.9", "--is-embedding --disable-radix-cache"),
    ("0.5.9", "--quantization fp8 --kv-cache-dtype fp8_e5m2"),
];

#[test]
fn sound_launches_have_neither_errors_nor_warnings() {
    let mut wrong = Vec::new();
    for (version, flags) in SOUND {
        let command: Vec<&str> = ["--model-path", "m"].into_iter().chain(flags.split_whitespace()).collect();
        let facts = ["device=cuda", "model_arch=LlamaForCausalLM"];
        let Some((exit, document, _)) = audit(version, &command, &facts, FailOn::Warning) else { return };
        if exit != Exit::Clean {
            wrong.push(format!("{version} {flags}: {:#}", document["launches"][0]["findings"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn names(finding: &Value, field: &str) -> bool {
    finding["field"] == field || finding["fields"].as_array().is_some_and(|all| all.iter().any(|f| f == field))
}

#[test]
fn launches_as_people_write_them() {
    let mut wrong = Vec::new();
    for case in CASES {
        let told = |flags: &str| {
            let command: Vec<&str> = ["--model-path", "m"].into_iter().chain(flags.split_whitespace()).collect();
            let (_, document, _) = audit(case.version, &command, &[], FailOn::Never)?;
            Some(
                findings(&document, case.code)
                    .into_iter()
                    .filter(|f| names(f, case.field))
                    .cloned()
                    .collect::<Vec<_>>(),
            )
        };
        let (Some(faulty), Some(sound)) = (told(case.faulty), told(case.sound)) else { return };
        let effective = case.effective.map(|e| serde_json::from_str::<Value>(e).unwrap());
        let said =
            faulty.iter().any(|f| effective.as_ref().is_none_or(|e| f["effective"] == *e && f["when"].is_null()));
        if !said {
            wrong.push(format!("{} {}: not said: {faulty:?}", case.version, case.faulty));
        }
        if !sound.is_empty() {
            wrong.push(format!("{} {}: said: {sound:?}", case.version, case.sound));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
