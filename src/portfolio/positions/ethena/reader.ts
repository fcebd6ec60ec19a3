// Ethena: USDe that leaves the staking contract, which no token represents. sUSDe itself is an ERC-4626 vault.

import { decodeWords, TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import { createCallEncoder, readByMulticall } from "../../multicall.ts";
import type { PositionReader, ProtocolPosition } from "../../types.ts";
import { getAsset, prepareAssetLookup } from "../asset-metadata.ts";
import { createMarketReader } from "../market-reader.ts";
import type { EthenaMarket } from "./markets.ts";

const PROTOCOL = "ethena";
/** When the cooldown ends, and the amount. */
const COOLDOWN_WORDS = 2;

const cooldowns = createCallEncoder("function cooldowns(address) view returns (uint104, uint152)");

/** One round trip. The amount is fixed when the cooldown begins, and stays until it is withdrawn. */
export function createEthenaReader(
  marketsByChain: ReadonlyMap<number, readonly EthenaMarket[]>,
): PositionReader {
  return createMarketReader(PROTOCOL, marketsByChain, async (query, markets, signal) => {
    const { at, wallet } = query;
    const lookup = prepareAssetLookup(
      query,
      markets.map(({ usde }) => usde),
    );
    const cooldownCalls = markets.map(({ stakedUsde }) => cooldowns(stakedUsde, [wallet]));
    const results = await readByMulticall(at, [...cooldownCalls, ...lookup.calls], signal);
    const assets = lookup.decode(results.slice(cooldownCalls.length));
    const warnings: string[] = [];
    const positions = markets.flatMap(({ stakedUsde, usde }, index): ProtocolPosition[] => {
      const amount = decodeWords(results[index], COOLDOWN_WORDS)?.[1];
      if (amount === undefined || amount > TOKEN_AMOUNT_MAX) {
        warnings.push(`USDe in cooldown on ${at.chain.name} could not be read and is missing.`);
        return [];
      }
      if (amount === 0n) return [];
      return [
        {
          protocol: PROTOCOL,
          kind: "staked",
          name: "Ethena: USDe in cooldown",
          contract: stakedUsde,
          assets: [{ ...getAsset(assets, usde), rawBalance: amount }],
          receiptTokens: [],
        },
      ];
    });
    return { positions, warnings };
  });
}
