// `sextant verify` on files with real proofs: what people and programs see, exit codes, and what is never asked.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Json, type ProofStage, startProofStage } from "@sextant/client/testing/proof-stage";
import { createSigner, signResponse } from "@sextant/client/testing/signed-response";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { AGENT_REGISTRY, readProvenAgent } from "../../../tests/support/chain/proven-agent.ts";
import { startLoopbackServer } from "../../../tests/support/http/loopback-server.ts";
import { runSextantInProcess } from "../../../tests/support/process/run-in-process.ts";

let stage: ProofStage;
let folder: string;
let snapshot: Json;
beforeAll(async () => {
  stage = await startProofStage();
  folder = mkdtempSync(join(tmpdir(), "sextant-verify-"));
  snapshot = await stage.snapshot();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stage.chain.stop();
});

function write(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

const run = (args: readonly string[], columns: number | null = null) =>
  runSextantInProcess(["verify", ...args], { NO_COLOR: "1" }, folder, columns);
const nodes = () => [
  "--rpc",
  stage.chain.rpcUrl,
  "--rpc",
  stage.chain.rpcUrl.replace("127.0.0.1", "localhost"),
];
const signer = createSigner(3);
const HOUR_AGO = Math.floor(Date.now() / 1000) - 3_600;

describe("sextant verify", () => {
  it("shows what is proven when two nodes have the block", async () => {
    const { code, out, err } = await run([write("honest.json", snapshot), ...nodes()], 160);
    expect(code, err).toBe(0);
    expect(out).toMatch(/^Checked: Nothing is wrong/);
    expect(out).toMatch(/\/tokens\/0\/rawBalance +1250\.25 USDC \(1250250000\) +proven +known layout/);
    expect(out).toContain("Proven: $1383.206798 of $1398.706798");
  });

  it("prints the verification as JSON", async () => {
    const { code, out } = await run([write("honest.json", snapshot), ...nodes(), "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      kind: "snapshot",
      wallet: stage.wallet,
      coverage: { share: "0.9889" },
    });
  });

  it("fails when nothing vouches for the block, and says what to name", async () => {
    const { code, out } = await run([write("honest.json", snapshot)]);
    expect(code).toBe(1);
    expect(out).toMatch(/name two nodes/);
  });

  it("fails with a changed amount, and says which", async () => {
    const lie = structuredClone(snapshot) as { tokens: Json[] };
    Object.assign(lie.tokens[1] ?? {}, { rawBalance: "7000001", balance: "7.000001", valueUsd: "7" });
    const { code, out } = await run([write("lie.json", lie), ...nodes(), "--wide"]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /\/tokens\/1\/rawBalance .*wrong +The proof shows 7000000, and the response says 7000001/,
    );
  });

  it("takes the contract of a record from the reader, as an address or a deployment file", async () => {
    const file = write("agent.json", await readProvenAgent(stage.chain, 1));
    const node = ["--rpc", stage.chain.rpcUrl, "--min-nodes", "1"];
    const without = await run([file, ...node], 200);
    expect(without.code).toBe(1);
    expect(without.out).toMatch(/\/owner .*proven if the contract is yours +storage of AgentRegistry 0xa9a9/);
    const contracts = { AgentRegistry: AGENT_REGISTRY };
    const deployment = write("deployment.json", { chainId: 1, contracts });
    for (const named of [AGENT_REGISTRY, deployment]) {
      const { code, out } = await run([file, ...node, "--deployment", named], 200);
      expect(code, out).toBe(0);
      expect(out).toMatch(/^agent 1$/m);
      expect(out).toMatch(/\/metadata_uri +ipfs:\/\/agent +proven +storage of AgentRegistry/);
      expect(out).toMatch(/\/block_number .*proven +event AgentRegistered of AgentRegistry/);
    }
    const other = write("other.json", { chainId: 1, contracts: { AgentRegistry: `0x${"77".repeat(20)}` } });
    const wrong = await run([file, ...node, "--deployment", other], 200);
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain("You know AgentRegistry at another address.");
    const { code, err } = await run([file, "--deployment", file]);
    expect(code).not.toBe(0);
    expect(err).toContain("A deployment has a chainId and contracts.");
  });

  it("takes a block that the reader knows, and one node of the reader's own", async () => {
    const file = write("honest.json", snapshot);
    const [{ hash = "" } = {}] = snapshot.blocks as { hash: string }[];
    expect((await run([file, "--block", hash])).code).toBe(0);
    expect((await run([file, "--rpc", stage.chain.rpcUrl])).code).toBe(1);
    expect((await run([file, "--rpc", stage.chain.rpcUrl, "--min-nodes", "1"])).code).toBe(0);
  });

  it("reads keys from the command line, from a file and from the URL that the reader names", async () => {
    const did = JSON.stringify({ verificationMethod: [{ publicKeyJwk: signer.jwk }] });
    const directory = "/.well-known/http-message-signatures-directory";
    const { url, stop } = await startLoopbackServer(({ url: path }, response) => {
      response.writeHead(path === directory ? 200 : 404).end(JSON.stringify({ keys: [signer.jwk] }));
    });
    onTestFinished(stop);
    const signed = signResponse('{"intent_id":"15"}', `${url}/intents/15`, signer, HOUR_AGO);
    const file = write("signed.json", signed);
    for (const keys of [
      ["--key", signer.jwk.x],
      ["--key", write("keys.json", did)],
      ["--keys", `${url}${directory}`],
      ["--keys", url],
    ]) {
      const { code, out, err } = await run([file, ...keys]);
      expect(code, err).toBe(0);
      expect(out).toMatch(/the whole response .*signed only/);
    }
    expect((await run([file, "--key", createSigner(4).jwk.x])).code).toBe(1);
  });

  it("shows how old a signature is", async () => {
    const signed = signResponse('{"intent_id":"15"}', "https://service.example/intents/15", signer, HOUR_AGO);
    const { code, out } = await run([write("old.json", signed), "--key", signer.jwk.x], 200);
    expect(code).toBe(0);
    expect(out).toMatch(/signature .*message signature of service\.example; of 20[^ ]*Z, 60 minutes old/);
  });

  it.each([400, 402, 404])("fails with a signed response of status %i, and names it", async (status) => {
    const error = '{"error":{"code":"ANY","message":"text"}}';
    const signed = signResponse(error, "https://service.example/portfolio", signer, HOUR_AGO, status);
    const { code, out } = await run([write("error.json", signed), "--key", signer.jwk.x], 200);
    expect(code).toBe(1);
    expect(out).toMatch(new RegExp(`^Not proven: The service rejected the request: ${status}`));
    expect(out).toMatch(new RegExp(`status +${status} +signed only`));
    const record = await readProvenAgent(stage.chain, 1);
    const proven = signResponse(
      JSON.stringify(record),
      "https://service.example/agents/1",
      signer,
      HOUR_AGO,
      status,
    );
    expect((await run([write("record.json", proven), "--key", signer.jwk.x])).code).toBe(1);
  });

  it("takes keys of a host for that host only", async () => {
    const keys = JSON.stringify({ keys: [signer.jwk] });
    const { url, stop } = await startLoopbackServer((_, response) => response.end(keys));
    onTestFinished(stop);
    const signed = signResponse('{"intent_id":"15"}', "https://service.example/intents/15", signer, HOUR_AGO);
    const { code, out } = await run([write("signed.json", signed), "--keys", url]);
    expect(code).toBe(1);
    expect(out).toContain("another host");
  });

  it.each([
    ["do not end", (response: ServerResponse) => response.write("{")],
    ["are too many", (response: ServerResponse) => response.end(" ".repeat(300 * 1024))],
  ])("gives up on keys that %s", async (_, respond) => {
    const limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error("late")), 300);
      return controller.signal;
    });
    onTestFinished(() => limit.mockRestore());
    const { url, stop } = await startLoopbackServer((_, response) => void respond(response));
    onTestFinished(stop);
    const { code, err } = await run([write("honest.json", snapshot), "--keys", url]);
    expect(code).toBe(65);
    expect(err).toContain(`No keys could be read from ${url}`);
  });

  it("shows when each block was made, and how old it is", async () => {
    const { out } = await run([write("honest.json", snapshot), ...nodes(), "--wide"], 300);
    const [{ number = 0 } = {}] = snapshot.blocks as { number: number }[];
    expect(out).toMatch(new RegExp(`ethereum ${number} 0x.*have it; of 20[^ ]*Z, (\\d+ \\w+ old|later)`));
  });

  it("asks no address that only the file names", async () => {
    let asked = 0;
    const { url, stop } = await startLoopbackServer((_, response) => {
      asked += 1;
      response.end("{}");
    });
    onTestFinished(stop);
    const signed = signResponse(JSON.stringify(snapshot), `${url}/portfolio`, signer, HOUR_AGO);
    const file = write("curious.json", {
      ...signed,
      keys: { keys: [signer.jwk] },
      nodes: [url],
      did: `${url}/did.json`,
    });
    expect((await run([file])).code).toBe(1);
    expect(asked).toBe(0);
  });

  it.each([
    [["missing.json"], 65, /"missing\.json" does not exist/],
    [[], 64, /Name the file to check/],
    [["a.json", "--rpc", "ftp://secret-key"], 64, /--rpc must be a URL with http or https/],
    [["a.json", "--block", "0x12"], 64, /--block must be the hash of a block/],
    [["a.json", "--key", "nowhere.json"], 65, /--key must be a public key/],
    [
      ["a.json", "--keys", "http://127.0.0.1:1/keys"],
      65,
      /No keys could be read from http:\/\/127\.0\.0\.1:1/,
    ],
    [["a.json", "--key", "A".repeat(42)], 65, /--key must be a public key/],
  ] as const)("ends %j with code %i and says what to do", async (args, expected, message) => {
    const file = write("a.json", "{}");
    const { code, err } = await run(args.map((each) => (each === "a.json" ? file : each)));
    expect(code).toBe(expected);
    expect(err).toMatch(message);
    expect(err).not.toContain("secret-key");
  });

  it("shows text of the file without what steers a terminal", async () => {
    const hostile = structuredClone(snapshot) as { tokens: Json[] };
    Object.assign(hostile.tokens[0] ?? {}, { symbol: "\u001b[2JUSD\u202eC" });
    const { out } = await run([write("hostile.json", hostile), "--wide"], 200);
    expect(out).not.toContain("\u001b[2J");
    expect(out).not.toContain("\u202e");
  });
});
