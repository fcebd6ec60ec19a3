// The local-chain command as a process that has to end. Fast tests of the same rules: local-chain.test.ts (stopping with open sockets), main.test.ts (arguments).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";

function run(...args: string[]) {
  const child = spawn(process.execPath, ["--import", "tsx", "run.ts", ...args], { cwd: import.meta.dirname });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output.stderr += chunk;
  });
  return { child, output, ended: once(child, "close") };
}

describe("local-chain command", () => {
  it("serves until interrupted, and exits although clients are connected", async () => {
    const { child, output, ended } = run("--chain-id", "4242", "--port", "0", "--block-time-ms", "50");
    await vi.waitUntil(() => output.stdout.includes("Ctrl-C"), { timeout: 20_000 });
    const wsUrl = /ws:\S+/.exec(output.stdout)?.[0] ?? "";
    const rpcUrl = /http:\S+/.exec(output.stdout)?.[0] ?? "";
    expect(output.stdout).toContain("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId" });
    expect(await (await fetch(rpcUrl, { method: "POST", body })).json()).toMatchObject({ result: "0x1092" });
    // A careless stop would wait for the open socket and the keep-alive connection.
    const socket = new WebSocket(wsUrl);
    await once(socket, "open");
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
    expect(output.stderr).toBe("");
  });

  it("reports a busy port in one line", async () => {
    const occupant = createServer().listen(0, "127.0.0.1");
    await once(occupant, "listening");
    const address = occupant.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const { output, ended } = run("--port", port, "--block-time-ms", "50");
    expect(await ended).toEqual([1, null]);
    expect(output.stderr).toBe(`Port ${port} on 127.0.0.1 is already in use\n`);
    occupant.close();
  });
});
