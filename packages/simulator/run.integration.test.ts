// The simulator command: a whole run, and once as a user starts it.
// Fast tests of the same rules: world.test.ts (actors), main.test.ts (arguments).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { runSimulatorCommand } from "./main.ts";

type CommandResult = { readonly code: unknown; readonly stdout: string; readonly stderr: string };

async function run(...args: string[]): Promise<CommandResult> {
  const output = { stdout: "", stderr: "" };
  const collect = (stream: keyof typeof output) => ({
    write(text: string) {
      output[stream] += text;
    },
  });
  const code = await runSimulatorCommand(args, {
    stdout: collect("stdout"),
    stderr: collect("stderr"),
    interrupt: new AbortController().signal,
  });
  return { code, ...output };
}

async function spawnCommand(...args: string[]): Promise<CommandResult> {
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

describe("simulator command", () => {
  it("prints a table of all events, none of which is missing", { timeout: 120_000 }, async () => {
    const { code, stdout, stderr } = await run("--steps", "350", "--seed", "7");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^350 steps of seed 7, \d+ blocks\n\nAgentRegistry\.AgentRegistered +\d+\n/);
    expect(stdout).toMatch(/\nIntentBook\.EIP712DomainChanged +never: .+\n/);
    expect(stdout).toMatch(/\nall events +\d+\n$/);
    expect(stdout).not.toMatch(/ 0\n/);
    expect(stderr).toMatch(/350 steps, \d+ events, \d+ blocks, \d+ steps\/s\n$/);
  });

  it("prints the same table for the same seed, and fails with the missing events of a short run", {
    timeout: 60_000,
  }, async () => {
    const spawned = await spawnCommand("--steps", "3");
    expect(spawned.code).toBe(1);
    expect(spawned.stdout).toContain("SettlementAdapter.SettlementExecuted");
    expect(spawned.stderr).toMatch(/These events did not occur: .*SettlementAdapter\.SettlementExecuted/);
    expect((await run("--steps", "3")).stdout).toBe(spawned.stdout);
  });
});
