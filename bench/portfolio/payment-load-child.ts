// The load on the paid service as a process of its own: unpaid, paid and paid-before requests, and bare transfers, in turns.
import { createPublicClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localChain } from "../../src/chain/chains/chains.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { BroadcastQueue } from "../../src/payments/facilitator/broadcast/queue.ts";
import { readCpuMs, type ServerReady } from "../api/cpu-time.ts";
import { type LoadResult, runHttpLoad } from "../api/http-load.ts";
import type { Cell } from "../api/load-child.ts";
import { benchLog } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import type { PaymentChainReady } from "./paid-chain-child.ts";
import { encodeBenchPaymentHeader, encodeTransferCall, type SignedPayments, signPayments } from "./payers.ts";

export type PaymentLoadTask = {
  readonly chain: PaymentChainReady;
  readonly service: ServerReady;
  readonly raw: ServerReady;
  /** Without the address of a server. */
  readonly path: string;
  readonly rounds: number;
  readonly msPerCell: number;
  readonly warmMs: number;
  /** Payments of every payer in every round. */
  readonly payments: number;
};

/** Processor time is that of the service. */
export type PaymentLoadReport = {
  readonly unpaid: Cell;
  readonly rawUnpaid: Cell;
  readonly paid: Cell;
  readonly transfers: Cell;
  readonly paidBefore: Cell;
};

// A transfer by signature takes about 90,000.
const TRANSFER_GAS = 150_000n;

const task = JSON.parse(process.argv[2] ?? "") as PaymentLoadTask;
const { chain, path } = task;
const url = task.service.url + path;
const connections = chain.payerKeys.length;
const node = createPublicClient({ transport: http(chain.url, { retryCount: 0 }), cacheTime: 0 });
const account = privateKeyToAccount(chain.facilitatorKey);
const { address } = account;
// The key and the queue of the facilitator, with nothing before or after them.
const queue = new BroadcastQueue({
  account,
  chainId: chain.chainId,
  clock: systemClock,
  log: benchLog,
  nonceGapMs: 10_000,
  rpc: {
    readPendingNonce: () => node.getTransactionCount({ address, blockTag: "pending" }),
    readFees: async () => ({
      baseFeesPerGas: [0n],
      priorityFeePerGas: await node.estimateMaxPriorityFeePerGas(),
    }),
    send: (serializedTransaction) => node.sendRawTransaction({ serializedTransaction }),
    // The only node, and it responds to every send: a rejected transaction was not accepted.
    hasTransaction: async () => false,
  },
});
const progress = createProgressReporter();

/** Every payer pays one payment after the other, all payers at the same time. */
async function eachPays(
  count: number,
  pay: (payment: SignedPayments[number]) => Promise<void>,
): Promise<LoadResult> {
  const signed = await signPayments(url, chain, count);
  const startedMs = performance.now();
  await Promise.all(
    signed.map(async (payments) => {
      for (const payment of payments) await pay(payment);
    }),
  );
  return { requests: count * signed.length, ms: performance.now() - startedMs };
}

let lastHeader = "";
async function buy(payment: SignedPayments[number]): Promise<void> {
  lastHeader = encodeBenchPaymentHeader(payment);
  const response = await fetch(url, { headers: { "payment-signature": lastHeader } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`a payment returned ${response.status}: ${text}`);
}

async function transfer(payment: SignedPayments[number]): Promise<void> {
  const hash = await queue.send({
    to: chain.asset,
    data: encodeTransferCall(payment),
    gas: TRANSFER_GAS,
    limits: localChain.gas,
    beforeSend: async () => undefined,
    onRejected: async () => undefined,
  });
  // The chain mines at once, so that the receipt is there.
  const { status } = await node.getTransactionReceipt({ hash });
  if (status !== "success") throw new Error(`the transfer ${hash} was reverted`);
}

const get = (server: ServerReady, ms: number, status: number, header?: string) =>
  runHttpLoad({
    url: server.url,
    connections,
    ms,
    path: () => path,
    status,
    ...(header === undefined ? {} : { header }),
  });

const cells = {
  unpaid: (ms: number) => get(task.service, ms, 402),
  rawUnpaid: (ms: number) => get(task.raw, ms, 402),
  paid: (_ms: number, payments: number) => eachPays(payments, buy),
  transfers: (_ms: number, payments: number) => eachPays(payments, transfer),
  paidBefore: (ms: number) => get(task.service, ms, 200, `PAYMENT-SIGNATURE: ${lastHeader}`),
};
const names = Object.keys(cells) as (keyof typeof cells)[];
const total: Record<string, Cell> = {};
for (const name of names) await cells[name](task.warmMs, task.payments);
for (let round = 1; round <= task.rounds; round += 1) {
  for (const name of names) {
    const cpuBeforeMs = await readCpuMs(task.service.control);
    const { requests, ms } = await cells[name](task.msPerCell, task.payments);
    const cpuMs = (await readCpuMs(task.service.control)) - cpuBeforeMs;
    const before = total[name] ?? { requests: 0, ms: 0, cpuMs: 0 };
    total[name] = {
      requests: before.requests + requests,
      ms: before.ms + ms,
      cpuMs: before.cpuMs + cpuMs,
    };
    progress(() => `round ${round} of ${task.rounds}, ${name}`);
  }
}
const report = Object.fromEntries(names.map((name) => [name, total[name]])) as PaymentLoadReport;
sendToParent(report);
