// Processor time and memory of a process tree, against processes whose work is known.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { readParentPid, readPeakBytes, readTreeCpuMs } from "../../bench/harness/process-costs.ts";

// A parent whose child computes for a while and ends, and that then waits.
const PARENT = `
  const { spawnSync } = require("node:child_process");
  spawnSync(process.execPath, ["-e", "const t = process.cpuUsage(); while (process.cpuUsage(t).user < 300000);"]);
  process.stdout.write("ready");
  process.stdin.resume();
`;

it.runIf(process.platform === "linux")("counts ended children with their parent", async () => {
  const child = spawn(process.execPath, ["-e", PARENT], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    const pid = child.pid ?? 0;
    expect(readTreeCpuMs(pid)).toBeGreaterThanOrEqual(300);
    expect(readTreeCpuMs(process.pid)).toBeGreaterThan(readTreeCpuMs(pid) ?? 0);
    expect(readPeakBytes(pid)).toBeGreaterThan(10e6);
    expect(readParentPid(pid)).toBe(process.pid);
  } finally {
    child.stdin.end();
    await once(child, "exit");
  }
});

it("knows nothing of a process that does not exist", () => {
  const pid = 2 ** 30;
  expect([readTreeCpuMs(pid), readPeakBytes(pid), readParentPid(pid)]).toEqual([null, null, null]);
});
