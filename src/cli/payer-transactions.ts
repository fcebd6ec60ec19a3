// Sends transactions of the payer, who pays their gas.
import { createPublicClient, createWalletClient, defineChain, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";

// A person waits, for a block or two.
const POLL_MS = 500;

type Call = { readonly to: Hex; readonly data: Hex; readonly chainId: number };

/** Resolves when the transaction is mined. */
export function createTransactionSender(node: string, key: Hex) {
  const transport = http(node);
  const account = privateKeyToAccount(key);
  return async ({ to, data, chainId }: Call): Promise<void> => {
    const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
    const rpcUrls = { default: { http: [node] } };
    const chain = defineChain({ id: chainId, name: `chain ${chainId}`, nativeCurrency, rpcUrls });
    const wallet = createWalletClient({ account, chain, transport });
    const reader = createPublicClient({ chain, transport, pollingInterval: POLL_MS });
    const hash = await wallet.sendTransaction({ to, data });
    const { status } = await reader.waitForTransactionReceipt({ hash });
    if (status === "success") return;
    throw new Fault("INTERNAL", `The transaction ${hash} was reverted.`);
  };
}
