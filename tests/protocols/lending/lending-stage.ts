// The stage that the tests of lending protocols share: a chain, a wallet, tokens, and snapshots of the wallet by one reader.
import { formatDecimal } from "../../../src/lib/decimal.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { readHealth } from "../../../src/portfolio/health/read-health.ts";
import { collectPositions } from "../../../src/portfolio/positions/collect-positions.ts";
import type { AssetPrice, PortfolioChain, PositionReader } from "../../../src/portfolio/types.ts";
import type { ChainData } from "../../../src/portfolio/valuation/snapshot-data.ts";
import { valueSnapshot } from "../../../src/portfolio/valuation/value-snapshot.ts";
import type { PortfolioSnapshot } from "../../../src/schema/portfolio/snapshot.ts";
import { makeChainData } from "../../support/portfolio/portfolio-parts.ts";
import { startPortfolioStage } from "../../support/portfolio/portfolio-stage.ts";
import { readArtifact } from "../support/artifacts.ts";
import { createDeployer, type DeployedContract, type Deployer } from "../support/deployer.ts";

export type LendingStage = {
  readonly deployer: Deployer;
  readonly port: PortfolioChain;
  /** Supplies what the wallet borrows. */
  readonly lender: Hex;
  readonly wallet: Hex;
  readonly walletKey: Hex;
  readonly increaseTime: (seconds: bigint) => Promise<void>;
  deployToken(symbol: string, decimals: number): Promise<DeployedContract>;
  /** Gives the wallet, or `to`, an amount and lets `spender` take it. */
  fund(token: DeployedContract, spender: Hex, amount: bigint, to?: "wallet" | "lender"): Promise<void>;
  /** The wallet as the service values it, with prices of the given sources; market prices otherwise. */
  snapshot(reader: PositionReader, prices?: ReadonlyMap<Hex, AssetPrice>): Promise<PortfolioSnapshot>;
};

const MINTABLE = "@aave/core-v3/artifacts/contracts/mocks/tokens/MintableERC20.sol/MintableERC20.json";

/** Stops with the test file. */
export async function startLendingStage(): Promise<LendingStage> {
  const stage = await startPortfolioStage();
  const { chain, wallet } = stage;
  const { owner, payer } = chain.accounts;
  const deployer = createDeployer(chain, owner.privateKey);
  const port = stage.port(await stage.node());
  const { signal } = new AbortController();
  return {
    ...{ deployer, port },
    lender: owner.address.toLowerCase() as Hex,
    wallet,
    walletKey: payer.privateKey,
    increaseTime: (seconds) => chain.increaseTime(seconds).then(() => chain.mine()),
    deployToken: (symbol, decimals) => deployer.deploy(readArtifact(MINTABLE), [symbol, symbol, decimals]),
    async fund(token, spender, amount, to = "wallet") {
      const { address, privateKey } = to === "wallet" ? payer : owner;
      await deployer.send(token, "mint", [address, amount]);
      await deployer.send(token, "approve", [spender, amount], { key: privateKey });
    },
    async snapshot(reader, prices = new Map()) {
      const at = await port.pin(signal);
      const { positions, warnings } = await collectPositions([reader], { at, wallet, holdings: [] }, signal);
      const { health } = await readHealth({ at, wallet }, positions, signal);
      const more: Partial<ChainData> = { block: at.block, positions, health, warnings, prices };
      const data = makeChainData(at.chain, more);
      return valueSnapshot({ wallet, takenAtMs: 0, provider: "rpc", chains: [data] });
    },
  };
}

/** Dollars with 8 decimals, as lending markets count them, in the text of the service. */
export function formatUsd(units: bigint, decimals = 8): string {
  return formatDecimal({ units, scale: decimals });
}
