// The audit report: aligned, bounded, and harmless whatever the chain holds.
import { describe, expect, it } from "vitest";
import { type AuditReport, formatAuditReport } from "./report.ts";
import type { TableAuditResult } from "./table.ts";

const block = { number: 12, hash: `0x${"ab".repeat(32)}`, timestamp: 1 } as const;
const report = (results: readonly TableAuditResult[]): AuditReport => ({
  network: "local",
  block,
  indexed: 34,
  results,
});
const difference = (found: string) => ({
  key: "1",
  column: "metadata_uri",
  found,
  expected: "ipfs://a",
  source: "AgentRegistry.getAgent",
});
const agents = (
  differences: number,
  firstDifferences: TableAuditResult["firstDifferences"] = [],
): TableAuditResult => ({
  table: "agents",
  compared: 1_234,
  differences,
  firstDifferences,
  notes: ["getAgent", "a sample of 5,000 rows"],
});

describe("the report of an audit", () => {
  it("prints a table", () => {
    expect(formatAuditReport(report([agents(0)]))).toBe(
      [
        `Audit of local at block 12 (${block.hash}); indexed up to 34.`,
        "",
        "table    rows  differences  note",
        "agents  1,234            0  getAgent; a sample of 5,000 rows",
        "all     1,234            0",
        "",
        "No difference.",
        "",
      ].join("\n"),
    );
  });

  it("shows one difference with both values", () => {
    expect(formatAuditReport(report([agents(1, [difference("ipfs://b")])]))).toMatch(
      /\n1 difference:\n\ntable {3}key {2}column .*\nagents {2}1 {4}metadata_uri {2}ipfs:\/\/b {6}ipfs:\/\/a {3}AgentRegistry\.getAgent\n$/,
    );
  });

  it("fits a terminal of 80 columns, with notes and hashes below each other", () => {
    const hashes = { ...difference(`0x${"12".repeat(32)}`), expected: `0x${"34".repeat(32)}` };
    const notes = [
      "the newest rows are compared with getAgent, the others with the stored events",
      "a sample",
    ];
    const text = formatAuditReport(report([{ ...agents(1, [hashes]), notes }]), 80);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(text).toContain(`\nHash ${block.hash}\n`);
    expect(text).toMatch(/\nagents {2}1,234 {12}1 {2}the newest .*\n {28}\S/);
    expect(text).toContain(
      `1 difference:\n\nagents 1: metadata_uri\nin the index  ${hashes.found}\nshould be     ${hashes.expected}\n`,
    );
  });

  it("shows the first twenty of many", () => {
    const many = Array.from({ length: 15 }, () => difference("ipfs://b"));
    const text = formatAuditReport(report([agents(1_500, many), agents(15, many)]));
    expect(text).toContain("1,515 differences, of which the first 20:");
    expect(text.split("according to\n")[1]?.trimEnd().split("\n")).toHaveLength(20);
  });

  it("neutralizes control characters and cuts long text from the chain", () => {
    const hostile = `\u001b[2J\nNo difference.\u2028\u202e${"x".repeat(1_000)}`;
    const text = formatAuditReport(report([agents(1, [difference(hostile)])]));
    for (const character of ["\u001b", "\u2028", "\u202e"]) expect(text).not.toContain(character);
    expect(text).not.toMatch(/^No difference/m);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(200);
  });
});
