// Usage and arguments of the simulator command; run.integration.test.ts runs it.
import { describe, expect, it } from "vitest";
import { runSimulatorCommand } from "./main.ts";

async function run(...args: string[]) {
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

describe("simulator command", () => {
  it("prints its usage", async () => {
    const { code, stdout } = await run("--help");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run simulator -- \[--steps 2000\] \[--seed 1\]/);
  });

  it.each([
    ["--steps", "0"],
    ["--sede", "1"],
  ])("rejects %s %s in one line", async (...args) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^[^\n]*(--steps|--sede)[^\n]*\n$/);
  });
});
