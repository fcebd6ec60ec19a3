// Adds up what the facilitator has spent on gas, transaction by transaction, whatever fees the nodes named.
import { formatEther } from "viem";
import type { E2eCheck } from "./check.ts";

type Sent = { readonly hash: string; readonly from: string };
type Receipt = { readonly gasUsed: string; readonly effectiveGasPrice: string; readonly status: string };

// A hundred times what a transfer by signature costs at the fee that an honest node of this chain names (1 gwei).
const WEI_MAX = 10n ** 16n;

export const gasCheck: E2eCheck = {
  name: "gas spent is bounded",
  async run({ protocol, observations }) {
    const { request } = protocol.chain;
    const address = protocol.facilitator.address.toLowerCase();
    const { number: head } = await protocol.head();
    let count = 0;
    let most = 0n;
    let sum = 0n;
    for (let number = 0; number <= head; number += 1) {
      const block = await request("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]);
      for (const { hash, from } of (block as { transactions: readonly Sent[] }).transactions) {
        if (from !== address) continue;
        const receipt = (await request("eth_getTransactionReceipt", [hash])) as Receipt;
        const spent = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
        count += 1;
        sum += spent;
        if (spent > most) most = spent;
        if (receipt.status !== "0x1") observations.count("transfers reverted");
        if (spent > WEI_MAX)
          observations.recordViolation(`the transfer ${hash} cost ${formatEther(spent)} ETH`);
      }
    }
    return `${count} transactions, ${formatEther(sum)} ETH, at most ${formatEther(most)} ETH each`;
  },
};
