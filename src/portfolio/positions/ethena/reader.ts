// Ethena: USDe that leaves the staking contract, which no token represents. sUSDe itself is an ERC-4626 vault.

import { TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import { readGroups } from "../../contract-reads/read-groups.ts";
import { defineRead, joinEach, toWords } from "../../contract-reads/reads.ts";
import type { PositionReader, ProtocolPosition } from "../../types.ts";
import { declareAssets, getAsset } from "../asset-metadata.ts";
import { createMarketReader } from "../market-reader.ts";
import type { EthenaMarket } from "./markets.ts";

const PROTOCOL = "ethena";

/** When the cooldown ends, and the amount. */
const cooldowns = defineRead("function cooldowns(address)", toWords(2));

/** One round trip. The amount is fixed when the cooldown begins, and stays until it is withdrawn. */
export function createEthenaReader(
  marketsByChain: ReadonlyMap<number, readonly EthenaMarket[]>,
): PositionReader {
  return createMarketReader(PROTOCOL, marketsByChain, async (query, markets, signal) => {
    const { at, wallet } = query;
    const stables = markets.map(({ usde }) => usde);
    const { amounts, assets } = await readGroups(at, signal, {
      amounts: joinEach(markets, ({ stakedUsde }) => cooldowns(stakedUsde, [wallet])),
      assets: declareAssets(query, stables),
    });
    const warnings: string[] = [];
    const positions = amounts.flatMap(([{ stakedUsde, usde }, words]): ProtocolPosition[] => {
      const amount = words?.[1];
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
