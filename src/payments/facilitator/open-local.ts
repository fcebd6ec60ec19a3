// The facilitator of this process as configured: its key, its nodes, and what it may pay for gas on this chain.
import { findChainById } from "../../chain/chains/chains.ts";
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import type { CallObserver } from "../../chain/rpc/types.ts";
import type { Config } from "../../config/read-config.ts";
import type { gasSettings } from "../../config/settings.ts";
import { parseAmount } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import type { PaymentAssetConfig, PaymentToken } from "../payment-token.ts";
import { createLocalFacilitator, type FacilitatorGasLimits, type LocalFacilitator } from "./local.ts";

export type FacilitatorGasConfig = Omit<Config<typeof gasSettings>, "facilitatorPrivateKey">;

const GWEI_DECIMALS = 9;

export function openLocalFacilitator(
  config: FacilitatorGasConfig,
  token: PaymentToken,
  needs: {
    readonly urls: readonly Secret<string>[];
    readonly privateKey: Secret<Hex>;
    readonly database: Database;
    readonly log: Log;
    readonly onCall: CallObserver | null;
  },
): LocalFacilitator {
  const { urls, privateKey, database, log, onCall } = needs;
  return createLocalFacilitator({
    ...{ network: token.network, urls, privateKey, log, onCall },
    store: openRecordStore(database),
    gas: createGasLimits(config, token),
  });
}

/** Throws CONFIG_INVALID where nothing says what gas may cost. */
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
