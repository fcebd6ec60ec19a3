// The payment token: configured, and compared at start with what its contract reports (decimals, EIP-712 domain).

import { domainSeparator } from "viem";
import type { ChainInfo } from "../chain/chains/chain-info.ts";
import { findChainById } from "../chain/chains/chains.ts";
import { type ContractCallResult, callContracts } from "../chain/contract-calls.ts";
import { readHeader } from "../chain/headers.ts";
import { createRpc } from "../chain/rpc/client.ts";
import { RpcError } from "../chain/rpc/errors.ts";
import type { CallObserver, Rpc } from "../chain/rpc/types.ts";
import type { paymentSettings } from "../config/payment-settings.ts";
import type { Config } from "../config/read-config.ts";
import { createParametersCodec, createSignatureCodec } from "../lib/abi/codec.ts";
import { type Caip2Network, chainIdOfNetwork } from "../lib/caip2.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import { retry } from "../lib/retry.ts";

type PaymentAsset = NonNullable<ChainInfo["paymentAsset"]>;

export type PaymentAssetConfig = Omit<PaymentAsset, "decimals"> & {
  readonly network: Caip2Network;
  readonly chainId: number;
  /** Null if only the contract knows them. */
  readonly decimals: number | null;
};

export function resolvePaymentAsset(config: Config<typeof paymentSettings>): PaymentAssetConfig {
  const { paymentNetwork, paymentAsset, paymentAssetName: name, paymentAssetVersion: version } = config;
  const network = paymentNetwork as Caip2Network;
  const chainId = chainIdOfNetwork(network);
  const known = findChainById(chainId)?.paymentAsset;
  const asset = paymentAsset === null ? null : (paymentAsset.toLowerCase() as Hex);
  if (asset === null || asset === known?.asset) {
    if (known) return { ...known, network, chainId };
    throw new Fault("CONFIG_INVALID", `PAYMENT_ASSET must name the token that is paid with on ${network}.`);
  }
  // A wrong name or version makes every signature invalid, so there is nothing to guess.
  if (name === null || version === null) {
    throw new Fault(
      "CONFIG_INVALID",
      "PAYMENT_ASSET needs PAYMENT_ASSET_NAME and PAYMENT_ASSET_VERSION: the name and version of its EIP-712 domain.",
    );
  }
  return { asset, name, version, decimals: null, network, chainId };
}

/** The token as configured, with the decimals that its contract reports. */
export type PaymentToken = PaymentAssetConfig & PaymentAsset;

/** The token as offers and the rules of a facilitator name it. */
export function describeToken({ network, asset, name, version }: Omit<PaymentAssetConfig, "decimals">) {
  return { network, asset, assetName: name, assetVersion: version };
}

/**
 * Reads the token from a node of the payment chain, and goes on with both; a failure closes the node. Throws CONFIG_INVALID
 * if the contract differs from the configuration, and waits for a node that responds.
 */
export async function openPaymentToken<T>(
  config: Config<typeof paymentSettings>,
  needs: {
    readonly log: Log;
    readonly onCall: CallObserver | null;
    readonly signal?: AbortSignal | undefined;
  },
  goOn: (opened: { readonly rpc: Rpc; readonly token: PaymentToken }) => Promise<T>,
): Promise<T> {
  const asset = resolvePaymentAsset(config);
  const { log, onCall } = needs;
  const rpc = createRpc({ urls: config.paymentRpcUrls, chainId: asset.chainId, log, onCall });
  try {
    return await goOn({ rpc, token: await readPaymentToken(rpc, asset, needs) });
  } catch (error) {
    rpc.close();
    throw error;
  }
}

/** Null for what the contract does not offer. */
type TokenFacts = {
  readonly decimals: number | null;
  readonly name: string | null;
  readonly version: string | null;
  readonly domainSeparator: Hex | null;
};

const CALLS = [
  "function decimals()",
  "function name()",
  "function version()",
  "function DOMAIN_SEPARATOR()",
].map((signature) => createSignatureCodec(signature).selector);
// Some nodes give up on calls without a limit; no token needs more than a few thousand for these.
const GAS_MAX = 1_000_000;
// A dollar amount in more decimals than any token has would not fit what payers sign.
const DECIMALS_MAX = 36;
const SHOWN_LENGTH_MAX = 60;
// A node that restarts is back within seconds; one that is down for longer is retried a few times a minute.
const WAIT_MS_BASE = 500;
const WAIT_MS_MAX = 10_000;

/**
 * The configured token with the decimals that its contract reports. Throws CONFIG_INVALID if the contract differs
 * from the configuration. Waits for a node that fails: nothing is assumed meanwhile.
 */
export async function readPaymentToken(
  rpc: Rpc,
  config: PaymentAssetConfig,
  needs: { readonly log: Log; readonly signal?: AbortSignal | undefined },
): Promise<PaymentToken> {
  const found = await readFactsWhenPossible(rpc, config.asset, needs);
  const where = `The token ${config.asset} on ${config.network}`;
  const { decimals } = found;
  if (decimals === null || decimals > DECIMALS_MAX) {
    const what = decimals === null ? "does not report its decimals()" : `reports ${decimals} decimals`;
    throw new Fault(
      "CONFIG_INVALID",
      `${where} ${what}, so no price can be quoted in it; correct PAYMENT_ASSET.`,
    );
  }
  if (config.decimals !== null && config.decimals !== decimals) {
    throw new Fault("CONFIG_INVALID", `${where} has ${decimals} decimals; ${config.decimals} were expected.`);
  }
  if (!isDomainOf(config, found)) {
    const wanted = `EIP-712 name ${shown(config.name)} and version ${shown(config.version)} were expected`;
    const { name, version } = found;
    const differs = name === config.name && version === config.version;
    const why = differs ? ", and its DOMAIN_SEPARATOR() is that of another domain" : "";
    throw new Fault(
      "CONFIG_INVALID",
      `${where} reports name ${shown(name)} and version ${shown(version)}${why}; ${wanted}. Correct PAYMENT_ASSET_NAME and PAYMENT_ASSET_VERSION.`,
    );
  }
  return { ...config, decimals };
}

/** The separator is what signatures are checked against; a token without one must report both texts as configured. */
function isDomainOf({ asset, chainId, name, version }: PaymentAssetConfig, found: TokenFacts): boolean {
  if (found.domainSeparator === null) return found.name === name && found.version === version;
  return (
    found.domainSeparator ===
    domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } })
  );
}

/** A node that is down when a service starts is often back within seconds. */
function readFactsWhenPossible(
  rpc: Rpc,
  asset: Hex,
  { log, signal }: { readonly log: Log; readonly signal?: AbortSignal | undefined },
): Promise<TokenFacts> {
  const isPassing = (error: unknown) => error instanceof RpcError && error.kind !== "wrong-chain";
  return retry(
    () =>
      readFacts(rpc, asset, signal).catch((err: unknown) => {
        if (isPassing(err))
          log.warn(
            { component: "payments", event: "payment_token_failed", err },
            "Reading the payment token failed, retrying",
          );
        throw err;
      }),
    {
      attemptsMax: Number.POSITIVE_INFINITY,
      delayMsBase: WAIT_MS_BASE,
      delayMsMax: WAIT_MS_MAX,
      isRetryable: isPassing,
      ...(signal ? { signal } : {}),
    },
  );
}

/** Reads one node at one block, so that the facts belong together. */
function readFacts(rpc: Rpc, asset: Hex, signal: AbortSignal | undefined): Promise<TokenFacts> {
  const options = signal ? { signal } : {};
  return rpc.pinned(async (node) => {
    const { hash: blockHash } = await readHeader(node, "latest", options);
    const calls = CALLS.map((data) => ({
      to: asset,
      data,
      block: { blockHash },
      gasMax: GAS_MAX,
    }));
    const [decimals, name, version, separator] = await callContracts(node, calls, options);
    return {
      decimals: numberIn(decimals),
      name: textIn(name),
      version: textIn(version),
      domainSeparator: wordIn(separator),
    };
  }, options);
}

const WORD = /^0x[0-9a-f]{64}$/;

function wordIn(result: ContractCallResult | undefined): Hex | null {
  return result && "ok" in result && WORD.test(result.ok) ? result.ok : null;
}

function numberIn(result: ContractCallResult | undefined): number | null {
  const word = wordIn(result);
  // Larger than any number of decimals, and than what a number holds exactly.
  return word === null || BigInt(word) > 255n ? null : Number(BigInt(word));
}

const textResult = createParametersCodec([{ type: "string" }]);

function textIn(result: ContractCallResult | undefined): string | null {
  if (!result || !("ok" in result)) return null;
  try {
    return String(textResult.decode(result.ok)[0]);
  } catch {
    // The contract returned something else: the same as no text.
    return null;
  }
}

function shown(text: string | null): string {
  if (text === null) return "nothing";
  return JSON.stringify(text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text);
}
