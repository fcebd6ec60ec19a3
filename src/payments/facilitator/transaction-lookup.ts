// What became of a transaction of ours, and whether an authorization was carried out, as the node has it now.
import {
  type PublicClient,
  parseAbiItem,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from "viem";
import type { Hex } from "../../kit/hex.ts";
import type { PaymentKey } from "../ledger-row.ts";

export type TransactionState =
  | { readonly kind: "succeeded" }
  | { readonly kind: "reverted"; readonly gasUsed: bigint; readonly blockNumber: bigint }
  /** Known to the node and next in line to be mined. */
  | { readonly kind: "waiting" }
  /** Unknown to the node, or behind a hole in the account's nonces: it must be sent again to be mined. */
  | { readonly kind: "missing" };

export type TransactionLookup = {
  stateOf(hash: Hex, payment: PaymentKey): Promise<TransactionState>;
  /** "waiting" where it was not mined in time. */
  waitFor(hash: Hex, payment: PaymentKey): Promise<TransactionState>;
  /** Whether the authorization was carried out up to a block, by us or anyone else. */
  wasCarriedOut(payment: PaymentKey, blockNumber: bigint): Promise<boolean>;
};

const USED = parseAbiItem("event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)");
// A transfer is simulated seconds before it is mined; every vendor accepts this range.
const LOOK_BACK_BLOCKS = 1_000n;

export function createTransactionLookup(options: {
  readonly client: PublicClient;
  readonly sender: Hex;
  readonly confirmationMs: number;
}): TransactionLookup {
  const { client, sender, confirmationMs } = options;

  const stateIn = async (receipt: TransactionReceipt, payment: PaymentKey): Promise<TransactionState> => {
    const { status, gasUsed, blockNumber, logs } = receipt;
    if (status === "reverted") return { kind: "reverted", gasUsed, blockNumber };
    const isUse = ({ address, topics }: TransactionReceipt["logs"][number]) =>
      address.toLowerCase() === payment.asset && topics[2] === payment.nonce;
    if (!logs.some(isUse))
      throw new Error(`transaction ${receipt.transactionHash} used another authorization`);
    return { kind: "succeeded" };
  };

  async function isNextInLine(hash: Hex): Promise<boolean> {
    try {
      const { blockNumber, nonce } = await client.getTransaction({ hash });
      if (blockNumber !== null) return true;
      return nonce < (await client.getTransactionCount({ address: sender, blockTag: "pending" }));
    } catch (error) {
      if (error instanceof TransactionNotFoundError) return false;
      throw error;
    }
  }

  return {
    async stateOf(hash, payment) {
      try {
        return await stateIn(await client.getTransactionReceipt({ hash }), payment);
      } catch (error) {
        if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
        return { kind: (await isNextInLine(hash)) ? "waiting" : "missing" };
      }
    },
    async waitFor(hash, payment) {
      try {
        const receipt = await client.waitForTransactionReceipt({
          hash,
          timeout: confirmationMs,
          checkReplacement: false,
        });
        return await stateIn(receipt, payment);
      } catch (error) {
        if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error;
        return { kind: "waiting" };
      }
    },
    async wasCarriedOut({ asset, payer, nonce }, blockNumber) {
      const logs = await client.getLogs({
        address: asset,
        event: USED,
        args: { authorizer: payer, nonce },
        fromBlock: blockNumber > LOOK_BACK_BLOCKS ? blockNumber - LOOK_BACK_BLOCKS : 0n,
        toBlock: blockNumber,
      });
      return logs.length > 0;
    },
  };
}
