// The facilitator of this process as configured: its key, its nodes, and what it may pay for gas on this chain.
import { chainById } from "../chain/chains/chains.ts";
import { parseAmount } from "../kit/amount.ts";
import type { Config } from "../kit/config.ts";
import { Fault } from "../kit/fault.ts";
import type { Hex } from "../kit/hex.ts";
import type { Log } from "../kit/log.ts";
import type { Secret } from "../kit/secret.ts";
import {
  createLocalFacilitator,
  type GasLimits,
  type LocalFacilitator,
} from "../payments/facilitator/local-facilitator.ts";
import { CHAINLINK_FEEDS } from "../portfolio/prices/feeds/feeds.ts";
import type { Database } from "../store/database.ts";
import { openRecordStore } from "../store/record-store.ts";
import type { PaymentPlace } from "./payment-place.ts";
import type { PaymentToken } from "./payment-token.ts";
import type { gasSettings } from "./settings.ts";

export type GasConfig = Omit<Config<typeof gasSettings>, "facilitatorPrivateKey">;

const GWEI_DECIMALS = 9;

export function openLocalFacilitator(
  config: GasConfig,
  token: PaymentToken,
  needs: {
    readonly urls: readonly Secret<string>[];
    readonly privateKey: Secret<Hex>;
    readonly database: Database;
    readonly log: Log;
  },
): LocalFacilitator {
  const { urls, privateKey, database, log } = needs;
  return createLocalFacilitator({
    ...{ network: token.network, urls, privateKey, log },
    store: openRecordStore(database),
    gas: gasLimits(config, token),
  });
}

/** Throws CONFIG_INVALID where nothing says what gas may cost. */
export function checkGasSettings(config: GasConfig, place: PaymentPlace): void {
  feePerGasMaxOf(config, place);
}

function feePerGasMaxOf(config: GasConfig, { chainId, network }: PaymentPlace): bigint {
  const given = config.facilitatorGasPriceMax;
  const configured = given === null ? null : parseAmount(given, GWEI_DECIMALS, "FACILITATOR_GAS_PRICE_MAX");
  const feePerGasMax = configured ?? chainById(chainId)?.gas?.feePerGasMax;
  if (feePerGasMax !== undefined) return feePerGasMax;
  throw new Fault(
    "CONFIG_INVALID",
    `FACILITATOR_GAS_PRICE_MAX must set the most paid per gas on ${network}, a chain without a known cap.`,
  );
}

export function gasLimits(config: GasConfig, token: PaymentToken): GasLimits {
  const { chainId, decimals } = token;
  const feePerGasMax = feePerGasMaxOf(config, token);
  const tipMax = chainById(chainId)?.gas?.priorityFeePerGasMax ?? feePerGasMax;
  const feed = CHAINLINK_FEEDS.get(chainId)?.native ?? null;
  const percentMax = BigInt(config.facilitatorGasPercentMax);
  return {
    feePerGasMax,
    priorityFeePerGasMax: tipMax < feePerGasMax ? tipMax : feePerGasMax,
    revertedGasMax: BigInt(config.facilitatorRevertedGasMax),
    ofPayment: feed && { percentMax, decimals, feed },
  };
}
