// The facilitator has paid for gas what its limits allow, whatever its nodes suggested.
import { formatEther, type Hex } from "viem";
import { local } from "../../../src/chain/chains/local.ts";
import { TRANSFER_GAS_MAX } from "../../../src/payments/facilitator/transfer-scheme.ts";
import type { Check } from "./check.ts";

export const gas: Check = {
  name: "gas within its limits",
  async run({ protocol, observations }) {
    const { address } = protocol.facilitator;
    const balanceAt = async (block: string) =>
      BigInt((await protocol.chain.request("eth_getBalance", [address, block])) as Hex);
    const sent = BigInt(
      (await protocol.chain.request("eth_getTransactionCount", [address, "latest"])) as Hex,
    );
    const spent = (await balanceAt("0x0")) - (await balanceAt("latest"));
    // The local chain's base fee is zero, so that a tip is all there is; a replacement may double it.
    const most = sent * TRANSFER_GAS_MAX * 2n * local.gas.priorityFeePerGasMax;
    if (spent > most)
      observations.wrong(`${sent} transfers cost ${formatEther(spent)}, at most ${formatEther(most)}`);
    return `${sent} transfers for ${formatEther(spent)}`;
  },
};
