// A merchant that issues a quote and sees its receipt: `npm start`, then `npx tsx examples/merchant.ts`.
import { setTimeout as sleep } from "node:timers/promises";
import type { List } from "@sextant/client/sextant";
import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { erc20Abi, type Hex, parseEventLogs, parseUnits, zeroAddress, zeroHash } from "viem";
import { blockOf, openLocalRun } from "./local-run.ts";

const { api, sextant, contract, token, wallet, formatAmount } = openLocalRun();
const [merchant, agent] = [wallet("merchant"), wallet("agent")];
const owner = merchant.account.address;
const registry = { address: contract("CommerceRegistry"), abi: commerceRegistryAbi } as const;

/** The first entry that the index has; registered now if the index has no entry. */
async function findOrRegister<T>(
  find: (minBlock: bigint) => List<T>,
  register: () => Promise<Hex>,
): Promise<T> {
  const [known] = await find(0n).take(1);
  if (known !== undefined) return known;
  const [registered] = await find(await blockOf(merchant, await register())).take(1);
  if (registered === undefined) throw new Error("the index has no entry of this block");
  return registered;
}

/** Commits to a price on chain, and to terms by the hash of a text that anyone can fetch and check. */
async function issueQuote(merchantId: bigint, serviceNumericId: bigint): Promise<Hex> {
  const terms = JSON.stringify({ service: serviceNumericId.toString(), delivery: "within a minute" });
  const { response_hash } = await sextant.publishQuoteResponse({ quote_response_json: terms });
  const { timestamp } = await merchant.getBlock();
  const quote = {
    ...{ merchantId, serviceNumericId, agent: agent.account.address, token, facilitator: zeroAddress },
    ...{ amount: parseUnits("0.25", 6), paymentRail: 0, paymentNonce: BigInt(Date.now()) },
    ...{ expiresAt: timestamp + 3_600n, resourceHash: zeroHash, termsHash: response_hash as Hex },
    x402PayloadHash: zeroHash,
  };
  const hash = await merchant.writeContract({ ...registry, functionName: "commitQuote", args: [quote] });
  const { logs } = await merchant.waitForTransactionReceipt({ hash });
  const [committed] = parseEventLogs({ abi: commerceRegistryAbi, eventName: "QuoteCommitted", logs });
  if (committed === undefined) throw new Error(`the transaction ${hash} committed no quote`);
  return committed.args.quoteHash;
}

/** The other side, which a local run leaves to us: the agent checks the terms, pays, and records the receipt. */
async function payAsAgent(quoteHash: Hex): Promise<void> {
  const minBlock = await agent.getBlockNumber();
  const { amount, terms_hash } = await sextant.getQuote({ quoteHash }, { minBlock });
  // Throws unless the text has the hash that the merchant has committed to.
  const { text } = await sextant.getQuoteResponse({ hash: terms_hash });
  console.log(`the agent agrees to ${text}`);
  const transfer = [owner, BigInt(amount)] as const;
  const erc20 = { address: token, abi: erc20Abi } as const;
  const paid = await agent.writeContract({ ...erc20, functionName: "transfer", args: transfer });
  await blockOf(agent, paid);
  const args = [quoteHash, paid] as const;
  await blockOf(agent, await agent.writeContract({ ...registry, functionName: "recordReceipt", args }));
}

const { merchant_id } = await findOrRegister(
  (minBlock) => sextant.listMerchants({ owner }, { minBlock }),
  () => {
    const args = [owner, "https://shop.example", zeroHash] as const;
    return merchant.writeContract({ ...registry, functionName: "registerMerchant", args });
  },
);
const { service_numeric_id } = await findOrRegister(
  (minBlock) => sextant.listServices({ merchant_id }, { minBlock }),
  () => {
    const args = [BigInt(merchant_id), "forecast", "https://shop.example", zeroHash, zeroHash] as const;
    return merchant.writeContract({ ...registry, functionName: "registerService", args });
  },
);
const quoteHash = await issueQuote(BigInt(merchant_id), BigInt(service_numeric_id));
console.log(`merchant ${merchant_id} quotes ${quoteHash}`);
await payAsAgent(quoteHash);

for (;;) {
  const receipts = await sextant.listReceipts({ merchant_id }).take(20);
  const receipt = receipts.find(({ quote_hash }) => quote_hash === quoteHash);
  if (receipt !== undefined) {
    const paid = formatAmount(receipt.amount, token);
    console.log(`receipt ${receipt.receipt_id}: ${paid} paid in ${receipt.result_hash}`);
    console.log(`next: open ${api}/explorer/merchants/${merchant_id}, or run`);
    console.log(`  node bin/sextant.mjs get quotes/${quoteHash}`);
    break;
  }
  await sleep(500);
}
