// A snapshot with and without proofs over nodes of the benchmark, as the service reads both: time, bytes and coverage.

import { gzipSync } from "node:zlib";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import {
  addNonces,
  describeProvableSnapshot,
  ResponseProver,
} from "../../src/portfolio/proofs/prove-response.ts";
import { benchLog } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import type { ReadyNode } from "./nodes-child.ts";
import { createPaidReads, describeChain } from "./paid-reads.ts";

export type ProofsTask = { readonly node: ReadyNode; readonly tokens: number; readonly rounds: number };

/** The best of all rounds. */
type Timing = { readonly ms: number; readonly cpuMs: number };

export type ProofsReport = {
  readonly tokens: number;
  readonly plain: Timing & { readonly bytes: number; readonly zipped: number };
  /** The first time, without any layout, and once they are known. */
  readonly first: Timing;
  readonly known: Timing & { readonly bytes: number; readonly zipped: number };
  readonly claims: number;
  readonly unproven: number;
  readonly nodes: number;
  readonly nodeBytes: number;
  readonly share: string | null;
};

const { node, tokens, rounds } = JSON.parse(process.argv[2] ?? "") as ProofsTask;
const rpc = createRpc({ urls: [new Secret(node.url)], chainId: node.chainId, log: benchLog, onCall: null });
const progress = createProgressReporter();
const { signal } = new AbortController();
const access = createChainAccess(rpc, describeChain(node, tokens));
const reads = createPaidReads({ nodes: [{ ...node, rpc }], tokens });
const openProver = () => new ResponseProver(new Map([[access.chain.slug, access]]), systemClock);
const options = { isPast: false, budgetMs: 60_000 };

async function takeProven(prover: ResponseProver) {
  const snapshot = await reads.snapshot();
  const { proofs, nonces } = await prover.prove(describeProvableSnapshot(snapshot), options, signal);
  return { ...addNonces(snapshot, nonces), proofs };
}

async function timed<T>(work: () => Promise<T>): Promise<Timing> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const ms = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1_000 };
}

async function measure(work: () => Promise<unknown>, what: string): Promise<Timing> {
  const timings: Timing[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    timings.push(await timed(work));
    progress(() => what);
  }
  return {
    ms: Math.min(...timings.map(({ ms }) => ms)),
    cpuMs: Math.min(...timings.map(({ cpuMs }) => cpuMs)),
  };
}

function sizeOf(body: unknown): { readonly bytes: number; readonly zipped: number } {
  const text = JSON.stringify(body);
  return { bytes: Buffer.byteLength(text), zipped: gzipSync(text).length };
}

const prover = openProver();
const proven = await takeProven(prover);
const [chain] = proven.proofs.chains;
if (!chain || chain.reason !== null) throw new Error(`nothing was proven: ${chain?.reason}`);
const { proofs, ...plainBody } = proven;
const report: ProofsReport = {
  tokens: proven.tokens.length,
  plain: { ...(await measure(reads.snapshot, "snapshots without proofs")), ...sizeOf(plainBody) },
  first: await measure(() => takeProven(openProver()), "first snapshots with proofs"),
  known: { ...(await measure(() => takeProven(prover), "snapshots with proofs")), ...sizeOf(proven) },
  claims: chain.claims.length,
  unproven: chain.claims.filter(({ kind }) => kind === "none").length,
  nodes: chain.nodes.length,
  nodeBytes: chain.nodes.reduce((sum, each) => sum + each.length / 2 - 1, 0),
  share: proofs.coverage.share,
};
rpc.close();
sendToParent(report);
