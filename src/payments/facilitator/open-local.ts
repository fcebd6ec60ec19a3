// The facilitator of this process as configured: its key, its nodes, and what it may pay for gas on this chain.
import { getAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { findChainById } from "../../chain/chains/chains.ts";
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import type { CallObserver } from "../../chain/rpc/types.ts";
import type { Config } from "../../config/read-config.ts";
import type { gasSettings } from "../../config/settings.ts";
import { systemClock } from "../../lib/clock.ts";
import { parseAmount } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import type { PaymentAssetConfig, PaymentToken } from "../payment-token.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import { claimKey, type KeyClaim } from "./key-claim.ts";
import { createLocalFacilitator, type FacilitatorGasLimits, type LocalFacilitator } from "./local.ts";

export type FacilitatorGasConfig = Omit<Config<typeof gasSettings>, "facilitatorPrivateKey">;

const GWEI_DECIMALS = 9;
// However often anyone requests /ready, nodes are asked once in this time.
const GAS_CHECK_MS = 5_000;

/** A facilitator that shares its database with others, which have keys of their own. */
export type ClaimedFacilitator = LocalFacilitator & {
  /** Why this process cannot settle at the moment; null if it can. Throws if no node responds. */
  findProblem(): Promise<string | null>;
  close(): Promise<void>;
};

/** Throws CONFIG_INVALID if another process keeps the key. */
export async function openLocalFacilitator(
  config: FacilitatorGasConfig,
  token: PaymentToken,
  needs: {
    readonly urls: readonly Secret<string>[];
    readonly privateKey: Secret<Hex>;
    readonly database: Database;
    readonly log: Log;
    readonly onCall: CallObserver | null;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<ClaimedFacilitator> {
  const { urls, privateKey, database, log, onCall, signal } = needs;
  const { network } = token;
  const address = privateKeyToAccount(privateKey.reveal()).address.toLowerCase() as Hex;
  const claim = await claimKey({ database, network, address, log, signal });
  const facilitator = createLocalFacilitator({
    network,
    urls,
    privateKey,
    log,
    onCall,
    turns: claim,
    store: openRecordStore(database),
    gas: createGasLimits(config, token),
  });
  return {
    ...facilitator,
    findProblem: createProblemFinder(facilitator, claim),
    async verify(payload, terms) {
      // Otherwise work would be done for a payment that cannot be sent.
      if (!claim.isHeld) throw new FacilitatorUnavailableError("its key is not claimed at the moment");
      return facilitator.verify(payload, terms);
    },
    getSupported: async () => listSigners(await facilitator.getSupported(), claim),
    close: () => claim.release(),
  };
}

function createProblemFinder(facilitator: LocalFacilitator, claim: KeyClaim): () => Promise<string | null> {
  const { address } = facilitator;
  let checked: { readonly problem: Promise<string | null>; readonly atMs: number } | null = null;
  const findGasProblem = async () => {
    const [balance, cost] = await Promise.all([facilitator.readGasBalance(), facilitator.readTransferCost()]);
    if (balance > 0n && balance >= cost) return null;
    return `The account ${address} cannot pay the gas of a transfer: it has ${balance} wei and needs ${cost}.`;
  };
  return async () => {
    if (!claim.isHeld) return `The key of ${address} is not claimed by this process.`;
    const nowMs = systemClock.nowMs();
    if (checked === null || nowMs - checked.atMs >= GAS_CHECK_MS) {
      checked = { problem: findGasProblem(), atMs: nowMs };
    }
    return checked.problem;
  };
}

/** Any of the processes behind one address may send a transfer. */
async function listSigners(
  supported: Awaited<ReturnType<LocalFacilitator["getSupported"]>>,
  claim: KeyClaim,
): Promise<typeof supported> {
  const accounts = (await claim.findClaimedAccounts()).map((account) => getAddress(account));
  const signers = Object.entries(supported.signers).map(
    ([family, own]) => [family, [...new Set([...own, ...accounts])].sort()] as const,
  );
  return { ...supported, signers: Object.fromEntries(signers) };
}

/** Throws CONFIG_INVALID if nothing says what gas may cost. */
export function checkGasSettings(config: FacilitatorGasConfig, asset: PaymentAssetConfig): void {
  feePerGasMaxOf(config, asset);
}

function feePerGasMaxOf(config: FacilitatorGasConfig, { chainId, network }: PaymentAssetConfig): bigint {
  const given = config.facilitatorGasPriceMax;
  const configured = given === null ? null : parseAmount(given, GWEI_DECIMALS, "FACILITATOR_GAS_PRICE_MAX");
  const feePerGasMax = configured ?? findChainById(chainId)?.gas?.feePerGasMax;
  if (feePerGasMax !== undefined) return feePerGasMax;
  throw new Fault(
    "CONFIG_INVALID",
    `FACILITATOR_GAS_PRICE_MAX must set the most paid per gas on ${network}, a chain without a known cap.`,
  );
}

export function createGasLimits(config: FacilitatorGasConfig, token: PaymentToken): FacilitatorGasLimits {
  const { chainId, decimals } = token;
  const feePerGasMax = feePerGasMaxOf(config, token);
  const tipMax = findChainById(chainId)?.gas?.priorityFeePerGasMax ?? feePerGasMax;
  const feed = CHAINLINK_FEEDS.get(chainId)?.native ?? null;
  const percentMax = BigInt(config.facilitatorGasPercentMax);
  return {
    feePerGasMax,
    priorityFeePerGasMax: tipMax < feePerGasMax ? tipMax : feePerGasMax,
    revertedGasMax: BigInt(config.facilitatorRevertedGasMax),
    paymentPercent: feed && { percentMax, decimals, feed },
  };
}
