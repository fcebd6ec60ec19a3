// wstETH shown as the staked ether it wraps, at the rate of its own contract.

import { decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import { createCallEncoder, readByMulticall } from "../../multicall.ts";
import type { PositionReader } from "../../types.ts";
import { createUnknownAsset, prepareAssetLookup } from "../asset-metadata.ts";
import type { WstEthMarket } from "./markets.ts";

const getStEthByWstEth = createCallEncoder("function getStETHByWstETH(uint256) view returns (uint256)");
const totalSupply = createCallEncoder("function totalSupply() view returns (uint256)");

export function wstEthReader(markets: ReadonlyMap<number, WstEthMarket>): PositionReader {
  return {
    protocol: "lido",
    async read(question, signal) {
      const { at, holdings } = question;
      const market = markets.get(at.chain.chainId);
      const held = market && holdings.find(({ contract }) => contract === market.wstEth);
      if (!held) return { positions: [], warnings: [] };

      const inquiry = prepareAssetLookup(question, [market.stEth]);
      const [forAmount, forSupply, ...rest] = await readByMulticall(
        at,
        [getStEthByWstEth(market.wstEth, [held.rawBalance]), totalSupply(market.stEth), ...inquiry.calls],
        signal,
      );
      const amount = decodeTokenAmount(forAmount);
      const supply = decodeTokenAmount(forSupply);
      // More than all there is would be a broken answer, whoever gave it.
      if (amount === null || supply === null || amount > supply) {
        const warning = `The rate of wstETH on ${at.chain.name} could not be read; it is shown as a token.`;
        return { positions: [], warnings: [warning] };
      }
      if (amount === 0n) return { positions: [], warnings: [] };
      const asset = inquiry.decode(rest).get(market.stEth) ?? createUnknownAsset(market.stEth);
      const position = {
        protocol: "lido",
        kind: "staked",
        name: "Wrapped staked ether",
        contract: market.wstEth,
        assets: [{ ...asset, rawBalance: amount }],
        receiptTokens: [market.wstEth],
      } as const;
      return { positions: [position], warnings: [] };
    },
  };
}
