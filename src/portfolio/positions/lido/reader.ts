// wstETH shown as the staked ether it wraps, at the rate of its own contract.

import { amountOf } from "../../../lib/abi/return-data.ts";
import { callEncoder } from "../../contract-reads.ts";
import { readTogether } from "../../multicall.ts";
import type { PositionReader } from "../../types.ts";
import { describeAssets, undescribed } from "../asset-metadata.ts";
import type { WstEthMarket } from "./markets.ts";

const getStEthByWstEth = callEncoder("function getStETHByWstETH(uint256) view returns (uint256)");
const totalSupply = callEncoder("function totalSupply() view returns (uint256)");

export function wstEthReader(markets: ReadonlyMap<number, WstEthMarket>): PositionReader {
  return {
    protocol: "lido",
    async read(question, signal) {
      const { at, holdings } = question;
      const market = markets.get(at.chain.chainId);
      const held = market && holdings.find(({ contract }) => contract === market.wstEth);
      if (!held) return { positions: [], warnings: [] };

      const inquiry = describeAssets(question, [market.stEth]);
      const [forAmount, forSupply, ...rest] = await readTogether(
        at,
        [getStEthByWstEth(market.wstEth, [held.rawBalance]), totalSupply(market.stEth), ...inquiry.calls],
        signal,
      );
      const amount = amountOf(forAmount);
      const supply = amountOf(forSupply);
      // More than all there is would be a broken answer, whoever gave it.
      if (amount === null || supply === null || amount > supply) {
        const warning = `The rate of wstETH on ${at.chain.name} could not be read; it is shown as a token.`;
        return { positions: [], warnings: [warning] };
      }
      if (amount === 0n) return { positions: [], warnings: [] };
      const asset = inquiry.assets(rest).get(market.stEth) ?? undescribed(market.stEth);
      const position = {
        protocol: "lido",
        kind: "staked",
        name: "Wrapped staked ether",
        contract: market.wstEth,
        assets: [{ ...asset, rawBalance: amount }],
        replaces: [market.wstEth],
      } as const;
      return { positions: [position], warnings: [] };
    },
  };
}
