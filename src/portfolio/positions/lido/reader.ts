// Lido: wstETH valued as the staked ether it wraps, at the rate of its own contract.

import { decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import { createCallEncoder, readByMulticall } from "../../multicall.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { Holding, PositionReader, ProtocolPosition } from "../../types.ts";
import { getAsset, prepareAssetLookup } from "../asset-metadata.ts";
import type { LidoMarket } from "./markets.ts";

const PROTOCOL = "lido";

const getStEthByWstEth = createCallEncoder("function getStETHByWstETH(uint256) view returns (uint256)");

/** One round trip for a wallet with wstETH, none for any other. */
export function createLidoReader(markets: ReadonlyMap<number, LidoMarket>): PositionReader {
  return {
    protocol: PROTOCOL,
    async read(query, signal) {
      const { at, holdings } = query;
      const market = markets.get(at.chain.chainId);
      const held = market && holdings.find(({ contract }) => contract === market.wstEth);
      if (!held) return { positions: [], warnings: [] };

      const lookup = prepareAssetLookup(query, [market.stEth]);
      const calls = [
        getStEthByWstEth(market.wstEth, [held.rawBalance]),
        erc20.totalSupply(market.stEth),
        ...lookup.calls,
      ];
      const [amountResult, supplyResult, ...metadata] = await readByMulticall(at, calls, signal);
      const amount = decodeTokenAmount(amountResult);
      const supply = decodeTokenAmount(supplyResult);
      // More than the total supply is an invalid result.
      if (amount === null || supply === null || amount > supply) {
        const warning = `The rate of wstETH on ${at.chain.name} could not be read; it is shown as a token.`;
        return { positions: [], warnings: [warning] };
      }
      if (amount === 0n) return { positions: [], warnings: [] };
      const asset = { ...getAsset(lookup.decode(metadata), market.stEth), rawBalance: amount };
      return { positions: [createPosition(market, asset)], warnings: [] };
    },
  };
}

function createPosition({ wstEth }: LidoMarket, asset: Holding): ProtocolPosition {
  return {
    protocol: PROTOCOL,
    kind: "staked",
    name: "Wrapped staked ether",
    contract: wstEth,
    assets: [asset],
    receiptTokens: [wstEth],
  };
}
