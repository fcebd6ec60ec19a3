// Checks what a node of a chain can do, and says what each limit means for the features.
import { CHECK_MS_MAX, describeError, type Finding } from "./finding.ts";

const PROBE = "0x00000000000000000000000000000000005e7a47";
// Returns 42.
const PROBE_CODE = "0x602a60005260206000f3";
const PROBE_RESULT = `0x${"2a".padStart(64, "0")}`;
const LATENCY_MS_MAX = 500;
const LATENCY_SAMPLES = 3;
// Chains have blocks every few seconds; a local one may stand still.
const HEAD_AGE_SECONDS_MAX = 120;
const CLOCK_SECONDS_MAX = 15;

type Call = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

type Node = { readonly url: string; readonly chainId: number; readonly logRangeMax: number };

type Head = { readonly number: string; readonly timestamp: string; readonly transactions: readonly string[] };

/** The features that a node may lack. */
const FEATURES: readonly {
  readonly check: string;
  readonly meaning: string;
  run(call: Call, head: Head, logRangeMax: number): Promise<string>;
}[] = [
  {
    check: "archive",
    meaning:
      "audits, snapshots and diffs of blocks older than about 128 are rejected; a diff from a snapshotId still works",
    async run(call) {
      await call("eth_getBalance", PROBE, "0x1");
      return "has the state of block 1";
    },
  },
  {
    check: "overrides",
    meaning: "the portfolio service reads balances in more requests, and slower",
    async run(call) {
      const result = await call("eth_call", { to: PROBE }, "latest", { [PROBE]: { code: PROBE_CODE } });
      if (result !== PROBE_RESULT) throw new Error(`eth_call ignores state overrides (${String(result)})`);
      return "eth_call takes state overrides";
    },
  },
  {
    check: "getLogs",
    meaning:
      "the indexer halves its ranges until they fit: the first run takes longer; lower SEXTANT_LOG_RANGE_MAX",
    async run(call, { number }, logRangeMax) {
      const from = Math.max(0, Number(number) - logRangeMax + 1);
      await call("eth_getLogs", { address: PROBE, fromBlock: `0x${from.toString(16)}`, toBlock: number });
      return `takes ranges of ${(Number(number) - from + 1).toLocaleString("en")} blocks`;
    },
  },
  {
    check: "trace",
    meaning: "agents that a contract registered in a hidden call need an archive node (NODE_STATE_MISSING)",
    async run(call, { transactions: [transaction] }) {
      const hash = transaction ?? `0x${"00".repeat(32)}`;
      try {
        await call("debug_traceTransaction", hash, { tracer: "callTracer" });
      } catch (error) {
        // A node that knows the method may not know this transaction.
        if (transaction !== undefined || isMethodRejected(error)) throw error;
      }
      return "has debug_traceTransaction";
    },
  },
  {
    check: "getProof",
    meaning: "responses to proof=1 say no_proofs where no other node of the chain has it",
    async run(call) {
      await call("eth_getProof", PROBE, [], "latest");
      return "has eth_getProof";
    },
  },
];

/** The methods that a node lacks or forbids, as opposed to a wrong parameter. */
function isMethodRejected(error: unknown): boolean {
  const { code, message } = error as { readonly code?: number; readonly message: string };
  return code === -32601 || code === -32004 || /method|support|available|allow|enabled|HTTP/i.test(message);
}

export async function checkNode({ url, chainId, logRangeMax }: Node, nowMs: number): Promise<Finding[]> {
  // A path or a query may be a key.
  const subject = `node ${new URL(url).host}`;
  const call = createCall(url);
  const found = (check: string, state: Finding["state"], text: string) => ({ subject, check, state, text });
  let head: Head;
  const times: number[] = [];
  try {
    for (let sample = 0; sample < LATENCY_SAMPLES; sample += 1) {
      const startedMs = performance.now();
      const served = Number(await call("eth_chainId"));
      times.push(performance.now() - startedMs);
      if (served === chainId) continue;
      return [found("chain", "failed", `serves chain ${served}, not ${chainId}: name a node of that chain`)];
    }
    head = (await call("eth_getBlockByNumber", "latest", false)) as Head;
  } catch (error) {
    return [found("connection", "failed", `${describeError(error)}: nothing of this chain can be read`)];
  }
  const latency = Math.round(Math.min(...times));
  const slow =
    latency > LATENCY_MS_MAX ? ": snapshots and the first index take longer; choose a nearer node" : "";
  const findings = [
    found("latency", slow === "" ? "ok" : "limited", `${latency} ms${slow}`),
    checkHead(found, head, nowMs),
  ];
  for (const { check, meaning, run } of FEATURES) {
    try {
      findings.push(found(check, "ok", await run(call, head, logRangeMax)));
    } catch (error) {
      findings.push(found(check, "limited", `${describeError(error)}: ${meaning}`));
    }
  }
  return findings;
}

function checkHead(
  found: (check: string, state: Finding["state"], text: string) => Finding,
  { number, timestamp }: Head,
  nowMs: number,
): Finding {
  const age = Math.round(nowMs / 1_000 - Number(timestamp));
  const block = `block ${Number(number)}`;
  if (age < -CLOCK_SECONDS_MAX) {
    return found("head", "limited", `${block} is ${-age} s in the future: set the clock of this machine`);
  }
  if (age <= HEAD_AGE_SECONDS_MAX) return found("head", "ok", `${block}, ${Math.max(0, age)} s old`);
  return found("head", "limited", `${block} is ${age} s old: the node is behind, or its chain stands still`);
}

function createCall(url: string): Call {
  return async (method, ...params) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(CHECK_MS_MAX),
    });
    const text = await response.text();
    let body: {
      readonly result?: unknown;
      readonly error?: { readonly code: number; readonly message: string };
    };
    try {
      body = JSON.parse(text);
    } catch (cause) {
      throw new Error(`${method} got HTTP ${response.status} without JSON`, { cause });
    }
    if (body.error)
      throw Object.assign(new Error(`${method}: ${body.error.message}`), { code: body.error.code });
    if (body.result === undefined || body.result === null) throw new Error(`${method} has no result`);
    return body.result;
  };
}
