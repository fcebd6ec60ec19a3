// A chain and a facilitator as plain as they can be: a set of used nonces, and transactions that wait to be mined.
import type { PaymentPayload } from "@x402/core/types";
import type { Hex } from "viem";
import {
  FacilitatorUnavailableError,
  type PaymentFacilitator,
} from "../../src/payments/facilitator/facilitator.ts";
import type { SettlementLookup } from "../../src/payments/settlement/onchain.ts";

export type VerifyFault = "none" | "lost";
export type SettleFault =
  | "none"
  /** Not sent, without a response. */
  | "lost request"
  /** Mined, without a response. */
  | "lost response"
  /** Sent, to be mined later, without a response. */
  | "lost while waiting"
  /** Sent, to be mined later, and reported as pending. */
  | "pending"
  | "rejected"
  /** Another account carries it out first; ours is mined and reverts, or is rejected before it is sent. */
  | "front-run"
  | "front-run, rejected"
  /** A transaction that does not exist is reported as success, and nothing was sent. */
  | "made up";

type Signed = { from: Hex; nonce: Hex; value: string; validBefore: string };
type Waiting = { readonly signed: Signed; readonly transaction: Hex };

export const GOOD_SIGNATURE: Hex = `0x${"aa".repeat(65)}`;
// Far below the head of any test, so that everything is final as soon as it is reconciled.
const BLOCKS_TO_FINAL = 0;

export class ModelChain {
  readonly transfers = new Map<
    Hex,
    { readonly transaction: Hex; readonly value: bigint; readonly block: number }
  >();
  readonly #waiting: Waiting[] = [];
  #sent = 0;
  #block = 100;
  timestamp = Math.floor(Date.now() / 1_000);
  /** When each block was mined. */
  readonly #times = new Map<number, number>([[this.#block, this.timestamp]]);

  #transactionOf(): Hex {
    this.#sent += 1;
    return `0x${this.#sent.toString(16).padStart(64, "0")}`;
  }

  #nextBlock(): void {
    this.#block += 1;
    this.#times.set(this.#block, this.timestamp);
  }

  #include({ signed, transaction }: Waiting): boolean {
    this.#nextBlock();
    if (this.transfers.has(signed.nonce) || this.timestamp >= Number(signed.validBefore)) return false;
    this.transfers.set(signed.nonce, { transaction, value: BigInt(signed.value), block: this.#block });
    return true;
  }

  /** Someone else who has the signature carries it out. */
  carryOut(signed: Signed): void {
    this.#include({ signed, transaction: this.#transactionOf() });
  }

  /** Waiting transactions are mined in order; a second transfer of a nonce reverts. */
  mine(): void {
    for (const each of this.#waiting.splice(0)) this.#include(each);
  }

  expireAll(): void {
    this.mine();
    this.timestamp += 1_000_000;
    this.#nextBlock();
    this.#nextBlock();
  }

  /** The chain as a node has it that is some blocks behind. */
  settlements(behind: number): SettlementLookup {
    const block = (number: number) => ({
      number,
      hash: `0x${number.toString(16).padStart(64, "0")}` as Hex,
      timestamp: this.#times.get(number) ?? this.timestamp,
    });
    const head = () => block(Math.max(100, this.#block - behind));
    const final = () => block(head().number - BLOCKS_TO_FINAL);
    const seen = (nonce: Hex) => {
      const found = this.transfers.get(nonce);
      return found && found.block <= head().number ? found : null;
    };
    const transferred = ({ transaction, block: number }: { transaction: Hex; block: number }) => ({
      kind: "transferred" as const,
      transaction,
      block: block(number),
    });
    return {
      findSettlement: async ({ nonce }) => {
        const found = seen(nonce);
        return found ? transferred(found) : { kind: "unused", at: head(), final: final() };
      },
      findInTransaction: async (transaction, { nonce }) => {
        const found = seen(nonce);
        return found?.transaction === transaction ? transferred(found) : null;
      },
      readAuthorizationStates: async (wanted) => ({
        at: head(),
        final: final(),
        used: wanted.map(({ nonce }) => seen(nonce) !== null),
      }),
      // Its payers have as much as they like.
      readBalance: async () => 2n ** 255n,
      isContractSignature: async (_account, { signature }) => signature === GOOD_SIGNATURE,
      readFinalizedBlock: async () => final(),
      compareBlocks: async (blocks) => ({
        head: head(),
        canonical: new Set(blocks.filter(({ number }) => number <= head().number).map(({ hash }) => hash)),
        orphaned: new Set(),
      }),
      findTransfersInBlocks: async (blocks) =>
        blocks.map(({ block: { number }, transfers: wanted }) =>
          wanted.map(({ nonce }) => {
            const found = seen(nonce);
            return found?.block === number ? found.transaction : null;
          }),
        ),
    };
  }

  /** One of these for every request, so that each has its own faults; `die` is called at the moments at which its process may end. */
  facilitator(
    faults: { verify: VerifyFault; settle: SettleFault },
    die: (moment: "sent" | "requested") => void,
  ): PaymentFacilitator {
    const network = "eip155:31337" as const;
    return {
      verify: async (payload) => {
        if (faults.verify === "lost") throw new FacilitatorUnavailableError("lost");
        if (!isGood(payload)) return { isValid: false, invalidReason: "invalid_exact_evm_signature" };
        if (this.transfers.has(signedIn(payload).nonce)) {
          return { isValid: false, invalidReason: "invalid_exact_evm_nonce_already_used" };
        }
        return { isValid: true };
      },
      settle: async (payload) => {
        const failed = (errorReason: string, transaction: string) => ({
          success: false,
          errorReason,
          transaction,
          network,
        });
        die("requested");
        if (faults.settle === "lost request") throw new FacilitatorUnavailableError("lost");
        if (!isGood(payload)) return failed("invalid_exact_evm_signature", "");
        if (faults.settle === "rejected") return failed("invalid_exact_evm_insufficient_balance", "");
        const signed = signedIn(payload);
        if (this.transfers.has(signed.nonce)) return failed("invalid_exact_evm_nonce_already_used", "");
        const transaction = this.#transactionOf();
        if (faults.settle === "made up") return { success: true, transaction, network };
        if (faults.settle.startsWith("front-run")) {
          this.#include({ signed, transaction: this.#transactionOf() });
          if (faults.settle === "front-run, rejected") {
            return failed("invalid_exact_evm_insufficient_balance", "");
          }
        }
        if (faults.settle === "lost while waiting" || faults.settle === "pending") {
          this.#waiting.push({ signed, transaction });
          if (faults.settle === "pending") return failed("settlement_pending", transaction);
          throw new FacilitatorUnavailableError("lost");
        }
        const isMined = this.#include({ signed, transaction });
        die("sent");
        if (faults.settle === "lost response") throw new FacilitatorUnavailableError("lost");
        if (!isMined) return failed("invalid_exact_evm_transaction_failed", transaction);
        return { success: true, transaction, network };
      },
      getSupported: async () => ({ kinds: [], extensions: [], signers: {} }),
    };
  }
}

function signedIn({ payload }: PaymentPayload): Signed {
  return payload.authorization as Signed;
}

function isGood({ payload }: PaymentPayload): boolean {
  return payload.signature === GOOD_SIGNATURE;
}
