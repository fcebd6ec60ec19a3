// Gas readiness as the response shows it: how many transfers the native balance pays for at the fees of the block.
import { toCaip2Network } from "../../lib/caip2.ts";
import { formatAmount } from "../../lib/decimal.ts";
import type { GasReadiness } from "../../schema/portfolio/snapshot.ts";
import type { ChainData } from "./snapshot-data.ts";

export function describeGas({ chain, holdings, gas }: ChainData): GasReadiness {
  const balance = holdings.find(({ contract }) => contract === null)?.rawBalance ?? 0n;
  const { symbol, decimals } = chain.native;
  /** Null if a transfer costs nothing, as on a private chain. */
  const count = (cost: bigint) => (cost === 0n ? null : (balance / cost).toString());
  return {
    chain: chain.slug,
    chainId: toCaip2Network(chain.chainId),
    symbol,
    rawBalance: balance.toString(),
    balance: formatAmount(balance, decimals),
    gasPrice: gas?.gasPrice.toString() ?? null,
    transferCost: gas?.transferCost.toString() ?? null,
    transfers: gas && count(gas.transferCost),
    tokenTransferCost: gas?.tokenTransferCost.toString() ?? null,
    tokenTransfers: gas && count(gas.tokenTransferCost),
    ready: gas && balance >= gas.tokenTransferCost,
  };
}
