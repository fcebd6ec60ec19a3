// Ethena: USDe that leaves the staking contract, which no token represents. sUSDe itself is an ERC-4626 vault.

import { readChainData } from "../../../chain/chain-data.ts";
import { TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { defineRead, toWords } from "../../contract-reads/reads.ts";
import type { PositionReader, ProtocolPosition } from "../../types.ts";
import { declareAssets, toHolding } from "../asset-metadata.ts";
import { defineReader } from "../position-read.ts";

const PROTOCOL = "ethena";

const ethenaMarket = shape.object({ stakedUsde: shape.address, usde: shape.address });

export type EthenaMarket = ShapeType<typeof ethenaMarket>;

/** The bridged tokens know no cooldown. */
export const ETHENA_MARKETS = readChainData("staking", "ethena", shape.list(ethenaMarket));

/** When the cooldown ends, and the amount. */
const cooldowns = defineRead("function cooldowns(address)", toWords(2));

/** One round trip. The amount is fixed when the cooldown begins, and stays until it is withdrawn. */
export function createEthenaReader(markets: ReadonlyMap<number, readonly EthenaMarket[]>): PositionReader {
  return defineReader({
    protocol: PROTOCOL,
    markets,
    async read(run, onChain) {
      const amounts = await run.askEach(onChain, ({ stakedUsde }) => cooldowns(stakedUsde, [run.wallet]));
      const held = amounts.flatMap(([{ usde }, words]) => (words?.[1] ? [usde] : []));
      const assets = await run.ask(declareAssets(await run.withTokens(), held));
      return amounts.flatMap(([{ stakedUsde, usde }, words]): ProtocolPosition[] => {
        const amount = words?.[1];
        if (amount === undefined || amount > TOKEN_AMOUNT_MAX) {
          run.warn(`USDe in cooldown on ${run.chain} could not be read and is missing.`);
          return [];
        }
        if (amount === 0n) return [];
        const facts = { protocol: PROTOCOL, kind: "staked", name: "Ethena: USDe in cooldown" } as const;
        const held = toHolding(assets, usde, amount);
        return [{ ...facts, contract: stakedUsde, assets: [held], receiptTokens: [] }];
      });
    },
  });
}
