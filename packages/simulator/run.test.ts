// The command as a user runs it: a table that repeats itself, and clear words when something is wrong.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";

async function run(...args: string[]) {
  const child = spawn(process.execPath, ["--import", "tsx", "run.ts", ...args], { cwd: import.meta.dirname });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output.stderr += chunk;
  });
  const [code] = await once(child, "close");
  return { code, ...output };
}

describe("the economy command", () => {
  it("prints the same table for the same seed, with no event at zero", { timeout: 120_000 }, async () => {
    const [first, again] = await Promise.all([
      run("--steps", "350", "--seed", "7"),
      run("--steps", "350", "--seed", "7"),
    ]);
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/^350 steps of seed 7, \d+ blocks\n\nAgentRegistry\.AgentRegistered +\d+\n/);
    expect(first.stdout).toMatch(/\nIntentBook\.EIP712DomainChanged +never: .+\n/);
    expect(first.stdout).toMatch(/\nall events +\d+\n$/);
    expect(first.stdout).not.toMatch(/ 0\n/);
    expect(first.stderr).toMatch(/350 steps, \d+ events, \d+ blocks, \d+ steps\/s\n$/);
    expect(again.stdout).toBe(first.stdout);
  });

  it("fails and names the events that a short run did not reach", { timeout: 60_000 }, async () => {
    const { code, stdout, stderr } = await run("--steps", "3");
    expect(code).toBe(1);
    expect(stdout).toContain("SettlementAdapter.SettlementExecuted");
    expect(stderr).toMatch(/These events did not occur: .*SettlementAdapter\.SettlementExecuted/);
  });

  it("explains itself", async () => {
    const { code, stdout } = await run("--help");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run economy -- \[--steps 2000\] \[--seed 1\]/);
  });

  it.each([
    ["--steps", "0"],
    ["--sede", "1"],
  ])("refuses %s %s in one line", async (...args) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^[^\n]*(--steps|--sede)[^\n]*\n$/);
  });
});
