// Lido: wstETH valued as the staked ether it wraps, at the rate of its own contract, and withdrawals under way.

import { decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import { ask, type ReadRoutine, runRoutines } from "../../contract-reads/read-routines.ts";
import { defineRead } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { Holding, PositionQuery, PositionReader, ProtocolPosition } from "../../types.ts";
import { declareAssets, getAsset } from "../asset-metadata.ts";
import { LIDO_PROTOCOL, type LidoMarket } from "./markets.ts";
import { type LidoOutcome, readWithdrawalRequests } from "./withdrawal-requests.ts";

const getStEthByWstEth = defineRead("function getStETHByWstETH(uint256)", decodeTokenAmount);

/** One round trip, and two more for a wallet with withdrawals. */
export function createLidoReader(markets: ReadonlyMap<number, LidoMarket>): PositionReader {
  return {
    protocol: LIDO_PROTOCOL,
    delegations: (chainId) => {
      const queue = markets.get(chainId)?.withdrawalQueue;
      return queue ? [{ form: "nft", protocol: LIDO_PROTOCOL, contract: queue }] : [];
    },
    async read(query, signal) {
      const market = markets.get(query.at.chain.chainId);
      if (!market) return { positions: [], warnings: [] };
      const routines = [readWrappedEther(query, market), readWithdrawalRequests(query, market)];
      const outcomes = await runRoutines(query.at, routines, signal);
      const incomplete = outcomes.flatMap(({ incompleteContracts = [] }) => [...incompleteContracts]);
      return {
        positions: outcomes.flatMap(({ positions }) => positions),
        ...(incomplete.length > 0 ? { incompleteContracts: new Set(incomplete) } : {}),
        warnings: outcomes.flatMap(({ warnings }) => warnings),
      };
    },
  };
}

function* readWrappedEther(query: PositionQuery, market: LidoMarket): ReadRoutine<LidoOutcome> {
  const { at, holdings } = query;
  const held = holdings.find(({ contract }) => contract === market.wstEth);
  if (!held) return { positions: [], warnings: [] };

  const { amount, supply, assets } = yield* ask({
    amount: getStEthByWstEth(market.wstEth, [held.rawBalance]),
    supply: erc20.totalSupply(market.stEth),
    assets: declareAssets(query, [market.stEth]),
  });
  // More than the total supply is an invalid result.
  if (amount === null || supply === null || amount > supply) {
    const warning = `The rate of wstETH on ${at.chain.name} could not be read; it is shown as a token.`;
    return { positions: [], warnings: [warning] };
  }
  if (amount === 0n) return { positions: [], warnings: [] };
  const asset = { ...getAsset(assets, market.stEth), rawBalance: amount };
  return { positions: [createPosition(market, asset)], warnings: [] };
}

function createPosition({ wstEth }: LidoMarket, asset: Holding): ProtocolPosition {
  return {
    protocol: LIDO_PROTOCOL,
    kind: "staked",
    name: "Wrapped staked ether",
    contract: wstEth,
    assets: [asset],
    receiptTokens: [wstEth],
  };
}
