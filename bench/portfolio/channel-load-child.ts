// The load of payers by channel as a process of its own: vouchers that were signed before, and the same request for free.
import { Agent, request } from "node:http";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client";
import { createPublicClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ChannelDigests } from "../../src/payments/channels/channel-config.ts";
import { readCpuMs, type ServerReady } from "../api/cpu-time.ts";
import { type Quantiles, quantilesOf } from "../harness/measurement.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import type { PaymentChainReady } from "./paid-chain-child.ts";

export type ChannelLoadTask = {
  readonly chain: PaymentChainReady;
  readonly service: ServerReady;
  readonly price: string;
  /** Calls of each payer: the first ones one after the other, those after them at the same time as other payers'. */
  readonly warm: number;
  readonly alone: number;
  readonly together: number;
};

export type ChannelLoadReport = {
  readonly free: Quantiles;
  readonly voucher: Quantiles;
  /** All payers at once. */
  readonly requests: number;
  readonly ms: number;
  readonly cpuMs: number;
};

const task = JSON.parse(process.argv[2] ?? "") as ChannelLoadTask;
const { chain, service, warm, alone, together } = task;
const price = BigInt(task.price);
const agent = new Agent({ keepAlive: true, maxSockets: chain.payerKeys.length });
const digests = new ChannelDigests(`eip155:${chain.chainId}`);
const node = createPublicClient({ transport: http(chain.url) });
const progress = createProgressReporter();

type Response = { readonly status: number; readonly text: string; readonly required: string };

function get(path: string, signature?: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    const headers = signature === undefined ? {} : { "payment-signature": signature };
    const sent = request(service.url + path, { agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString(),
          required: String(response.headers["payment-required"] ?? ""),
        }),
      );
    });
    sent.on("error", reject);
    sent.end();
  });
}

async function buy(signature: string): Promise<void> {
  const { status, text, required } = await get("/paid", signature);
  if (status === 200) return;
  throw new Error(
    `a voucher got ${status}: ${text.slice(0, 200)} ${Buffer.from(required, "base64").toString().slice(0, 200)}`,
  );
}

async function readTerms(): Promise<PaymentRequirements> {
  const { required } = await get("/paid");
  const { accepts } = JSON.parse(Buffer.from(required, "base64").toString()) as PaymentRequired;
  const terms = accepts.find(({ scheme }) => scheme === "batch-settlement");
  if (terms === undefined) throw new Error("channels are not offered");
  return terms;
}

/** Opens a channel by its first purchase, and signs the vouchers of all others. */
async function open(key: `0x${string}`, terms: PaymentRequirements): Promise<readonly string[]> {
  const account = privateKeyToAccount(key);
  const scheme = new BatchSettlementEvmScheme({
    ...account,
    readContract: (args) => node.readContract(args as never),
  });
  const { payload } = await scheme.createPaymentPayload(2, terms);
  const encode = (value: object) =>
    Buffer.from(JSON.stringify({ x402Version: 2, accepted: terms, payload: value })).toString("base64");
  await buy(encode(payload));
  const { channelConfig, voucher } = payload as {
    readonly channelConfig: object;
    readonly voucher: { readonly channelId: `0x${string}` };
  };
  const { channelId } = voucher;
  const signed: string[] = [];
  for (let call = 2n; call <= BigInt(1 + warm + alone + together); call += 1n) {
    const maxClaimable = call * price;
    const signature = await account.sign({ hash: digests.voucher(channelId, maxClaimable) });
    const next = { channelId, maxClaimableAmount: maxClaimable.toString(), signature };
    signed.push(encode({ type: "voucher", channelConfig, voucher: next }));
  }
  return signed;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

const terms = await readTerms();
const vouchers: (readonly string[])[] = [];
for (const key of chain.payerKeys) {
  vouchers.push(await open(key, terms));
  progress(() => `${vouchers.length} channels opened`);
}
for (const signed of vouchers) {
  for (const signature of signed.slice(0, warm)) await Promise.all([get("/free"), buy(signature)]);
}
const took = { free: [] as number[], voucher: [] as number[] };
for (const signed of vouchers) {
  for (const signature of signed.slice(warm, warm + alone)) {
    took.free.push(await timed(() => get("/free")));
    took.voucher.push(await timed(() => buy(signature)));
  }
}
const cpuBeforeMs = await readCpuMs(service.control);
const ms = await timed(() =>
  Promise.all(
    vouchers.map(async (signed) => {
      for (const signature of signed.slice(warm + alone)) await buy(signature);
    }),
  ),
);
const report: ChannelLoadReport = {
  free: quantilesOf(took.free),
  voucher: quantilesOf(took.voucher),
  requests: together * vouchers.length,
  ms,
  cpuMs: (await readCpuMs(service.control)) - cpuBeforeMs,
};
agent.destroy();
sendToParent(report);
