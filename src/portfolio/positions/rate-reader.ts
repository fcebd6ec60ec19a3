// Tokens that grow against another asset at a rate that one of their protocol's contracts states.

import { decodeTokenAmount } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { readGroups } from "../contract-reads/read-groups.ts";
import { defineRead, joinEach } from "../contract-reads/reads.ts";
import type {
  Asset,
  Holding,
  PinnedChain,
  PositionKind,
  PositionReader,
  ProtocolPosition,
} from "../types.ts";
import { declareAssets, getAsset } from "./asset-metadata.ts";
import { createMarketReader } from "./market-reader.ts";

export type RatedToken = {
  readonly token: Hex;
  readonly name: string;
  readonly kind: PositionKind;
  /** The asset against which one token grows; null for the native coin. */
  readonly asset: Hex | null;
  /** Returns the rate as one word with `scale` decimals. */
  readonly rate: {
    readonly contract: Hex;
    readonly signature: string;
    readonly args: readonly bigint[];
    readonly scale: number;
  };
};

/**
 * The wallet keeps the token itself, at its own price: a market knows what it can be sold for. Only if no source has a
 * price, the protocol's rate stands in. No round trip unless such a token is held.
 */
export function createRateReader(
  protocol: string,
  tokensByChain: ReadonlyMap<number, readonly RatedToken[]>,
): PositionReader {
  return createMarketReader(protocol, tokensByChain, async (query, tokens, signal) => {
    const { at, holdings } = query;
    const held = tokens.flatMap((rated) => {
      const holding = holdings.find(({ contract }) => contract === rated.token);
      return holding ? [{ rated, holding }] : [];
    });
    const contracts = held.flatMap(({ rated }) => rated.asset ?? []);
    const { rates, assets } = await readGroups(at, signal, {
      rates: joinEach(held, ({ rated: { rate } }) =>
        defineRead(rate.signature, decodeTokenAmount)(rate.contract, rate.args),
      ),
      assets: declareAssets(query, contracts),
    });
    const warnings: string[] = [];
    const positions = rates.flatMap(([{ rated, holding }, units]): ProtocolPosition[] => {
      if (!units) {
        warnings.push(
          `The rate of ${rated.token} on ${at.chain.name} could not be read; it is shown as a token.`,
        );
        return [];
      }
      const asset = rated.asset === null ? nativeAsset(at) : getAsset(assets, rated.asset);
      return [createPosition(protocol, rated, holding, asset, units)];
    });
    return { positions, warnings };
  });
}

function createPosition(
  protocol: string,
  { token, name, kind, rate }: RatedToken,
  holding: Holding,
  asset: Asset,
  units: bigint,
): ProtocolPosition {
  const marketRate = {
    per: asset,
    rate: { units, scale: rate.scale },
    ...{ source: protocol, contract: rate.contract, timestamp: null },
  };
  return {
    protocol,
    kind,
    name,
    contract: token,
    assets: [{ ...holding, marketRate }],
    receiptTokens: [token],
  };
}

function nativeAsset({ chain }: PinnedChain): Asset {
  return { contract: null, ...chain.native, logo: null };
}
