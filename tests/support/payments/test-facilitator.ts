// Facilitators of a paid stage alongside its own: another key, other nodes, a restart over the same records.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { getAddress, type Hex } from "viem";
import type { Clock } from "../../../src/lib/clock.ts";
import { Secret } from "../../../src/lib/secret.ts";
import type { SettlementTurns } from "../../../src/payments/facilitator/key-claim.ts";
import {
  createLocalFacilitator,
  type FacilitatorGasLimits,
  type LocalFacilitator,
} from "../../../src/payments/facilitator/local.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { openRecordStore } from "../../../src/store/postgres/record-store.ts";
import { LOCAL_GAS } from "../chain/local-gas.ts";
import { silentLog } from "../quiet-log.ts";
import { signPaymentFor, TEST_NETWORK } from "./paid-client.ts";
import { type PaidStage, TEST_PRICE } from "./paid-stage.ts";
import { singleProcessTurns } from "./single-process-turns.ts";

export function openTestFacilitator(
  stage: Pick<PaidStage, "database" | "chain">,
  options: {
    readonly privateKey: Hex;
    readonly urls?: readonly string[];
    readonly gas?: Partial<FacilitatorGasLimits>;
    readonly clock?: Clock;
    readonly database?: Database;
    readonly turns?: SettlementTurns;
    readonly confirmationMs?: number;
    readonly nonceGapMs?: number;
    readonly pollMs?: number;
  },
): LocalFacilitator {
  const { urls = [stage.chain.rpcUrl], database = stage.database, clock } = options;
  const store = openRecordStore(database);
  return createLocalFacilitator({
    network: TEST_NETWORK,
    urls: urls.map((url) => new Secret(url)),
    privateKey: new Secret(options.privateKey),
    store,
    turns: options.turns ?? singleProcessTurns(store),
    gas: { ...LOCAL_GAS, ...options.gas },
    log: silentLog,
    onCall: null,
    confirmationMs: options.confirmationMs ?? 1_000,
    pollMs: options.pollMs ?? 20,
    nonceGapMs: options.nonceGapMs ?? 300,
    ...(clock ? { clock } : {}),
  });
}

export function paymentTermsOf(stage: Pick<PaidStage, "asset" | "payTo">): PaymentRequirements {
  return {
    ...{
      scheme: "exact",
      network: TEST_NETWORK,
      amount: TEST_PRICE.toString(),
      asset: stage.asset,
      payTo: stage.payTo,
    },
    ...{ maxTimeoutSeconds: 60, extra: { name: "USD Coin", version: "2" } },
  };
}

// isValidSignature returns its own selector, whatever was signed.
const AGREES = "631626ba7e60e01b60005260206000f3";
export const ACCEPTING_ACCOUNT_CODE: Hex = `0x${AGREES}`;
// The same up to 1.25 gwei for gas; above it reverts. The local node simulates at one gwei, others at zero, so that it
// agrees in every simulation and reverts in a block whose sender pays more.
export const INCONSISTENT_ACCOUNT_CODE: Hex = `0x634a817c803a1115600e575f5ffd5b${AGREES}`;
export const INCONSISTENT_ACCOUNT_TIP = 1_500_000_000n;

/** Accepts what is longer than the signature of a key. */
export const LONG_SIGNATURE_ACCOUNT_CODE: Hex = `0x3661010010600b575f5ffd5b${AGREES}`;

let accounts = 0;

/** A contract account with a dollar, whose payments carry a signature of its own kind. */
export async function openContractPayer(stage: PaidStage, paid: string, code: Hex, dollars = 1n) {
  accounts += 1;
  const address = getAddress(`0x${"c0de".repeat(8)}${accounts.toString(16).padStart(8, "0")}`);
  await stage.chain.setCode(address, code);
  await stage.mint(address, dollars * 1_000_000n);
  const signer = await stage.payer(0n);
  return {
    address,
    async payload(signature: Hex = `0x${"ab".repeat(400)}`): Promise<PaymentPayload> {
      const { payload } = await signPaymentFor(paid, signer, stage.asset);
      const authorization = { ...Object(payload.payload.authorization), from: address };
      return { ...payload, payload: { authorization, signature } } as PaymentPayload;
    },
  };
}
