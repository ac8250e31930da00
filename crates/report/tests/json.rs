//! The JSON schemas on small, hand-made data.

mod data;

use cyrano_report::outcomes_json;
use cyrano_trace::SCHEMA;
use data::{checks_json, outcomes, several};
use expect_test::expect;

#[test]
fn checks_as_json() {
    let checks = &several()[2..];
    expect![[r#"
        {
          "schema": "cyrano.report/1",
          "tool": {
            "name": "cyrano",
            "version": "0"
          },
          "checks": [
            {
              "file": "sb.rml",
              "test": null,
              "model": "relaxed",
              "criterion": "never",
              "property": "r1 = 0",
              "engine": "interp",
              "engine_note": "explore cannot run this: addresses depend on loaded values",
              "instance": {
                "threads": 2,
                "vars": 2
              },
              "set": {},
              "verdict": "unknown",
              "reason": "time limit reached",
              "states": 1234,
              "transitions": 5678,
              "clauses": null,
              "depth": 4,
              "seconds": 0.0123,
              "peak_bytes": 3145728,
              "bytes_per_state": 2549.2,
              "reductions": [],
              "specification": null,
              "confirmed": null,
              "trace": null,
              "minimised": null,
              "explanation": null
            },
            {
              "file": "sb.rml",
              "test": null,
              "model": null,
              "criterion": "never",
              "property": "r1 = 0",
              "engine": null,
              "engine_note": null,
              "instance": {
                "threads": 2,
                "vars": 2
              },
              "set": {},
              "verdict": "vacuous",
              "reason": "nothing to check",
              "states": null,
              "transitions": null,
              "clauses": null,
              "depth": null,
              "seconds": null,
              "peak_bytes": null,
              "bytes_per_state": null,
              "reductions": [],
              "specification": null,
              "confirmed": null,
              "trace": null,
              "minimised": null,
              "explanation": null
            }
          ]
        }
    "#]]
    .assert_eq(&checks_json(checks, "0"));
    let with_trace = checks_json(&several()[1..2], "0");
    let value: serde_json::Value = serde_json::from_str(&with_trace).expect("the report is JSON");
    assert_eq!(value["checks"][0]["trace"]["schema"], SCHEMA);
    assert_eq!(value["checks"][0]["explanation"]["kind"], "final-state");
}

#[test]
fn outcomes_as_json() {
    expect![[r#"
        {
          "schema": "cyrano.outcomes/1",
          "tool": {
            "name": "cyrano",
            "version": "0"
          },
          "results": [
            {
              "file": "sb.rml",
              "test": null,
              "model": "tso",
              "engine": "explore",
              "engine_note": null,
              "complete": false,
              "verdict": "bounded",
              "reason": "loops were unrolled 3 times",
              "count": 3,
              "outcomes": [
                {
                  "r1": -10,
                  "p1.r2": 0
                },
                {
                  "r1": 0,
                  "p1.r2": 1
                },
                {
                  "r1": 1,
                  "p1.r2": 0
                }
              ],
              "states": 0,
              "seconds": 0.0,
              "peak_bytes": 0
            }
          ]
        }
    "#]]
    .assert_eq(&outcomes_json(&outcomes()[1..2], "0"));
}
