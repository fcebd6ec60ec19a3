// A local chain with two tokens and the portfolio's own access to it, for the readers of liquidity.
import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import type { Hex } from "viem";
import { createChainAccess } from "../../../src/portfolio/chain-access.ts";
import type {
  ChainConfig,
  Holding,
  PinnedChain,
  PositionReader,
  PositionResult,
  ProtocolPosition,
  TransferLog,
} from "../../../src/portfolio/types.ts";
import { createTestRpc } from "../../support/nodes/test-rpc.ts";
import { localChainConfig } from "../../support/portfolio/portfolio-stage.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import { createDeployer, type DeployedContract, type Deployer } from "../support/deployer.ts";

const TOKEN_SOURCE = `pragma solidity ^0.8.0;
import {ERC20} from "solmate/src/tokens/ERC20.sol";
contract Token is ERC20 {
  constructor(string memory symbol, uint8 decimals) ERC20(symbol, symbol, decimals) {}
  function mint(address to, uint256 amount) external { _mint(to, amount); }
}`;

export type LiquidityStage = {
  readonly chain: LocalChain;
  readonly deployer: Deployer;
  /** The deployer's address, lower-case: it owns every position unless a test says otherwise. */
  readonly wallet: Hex;
  /** In the order of their addresses, as pools have them; the wallet has plenty of both. */
  readonly token0: DeployedContract;
  readonly token1: DeployedContract;
  deployToken(symbol: string, decimals: number): Promise<DeployedContract>;
  /** Reads the wallet at the newest block; both tokens are listed unless `listed` says otherwise. */
  read(reader: PositionReader, more?: Partial<WalletState>): Promise<ReadOutcome>;
  pin(listed?: readonly Hex[]): Promise<PinnedChain>;
};

type WalletState = {
  readonly wallet: Hex;
  readonly holdings: readonly Holding[];
  readonly transfers: readonly TransferLog[];
  readonly listed: readonly Hex[];
  /** How the node searches logs, if not as it does. */
  readonly searchLogs: (at: PinnedChain) => PinnedChain["transfers"];
};

type ReadOutcome = PositionResult & {
  /** Sequential round trips. */
  readonly rounds: number;
  /** Calls that the node counts; a multicall is one. */
  readonly requests: number;
};

export const signal = new AbortController().signal;

export async function startLiquidityStage(): Promise<LiquidityStage> {
  const chain = await startLocalChain({ chainId: 31337, code: LOCAL_GENESIS_CODE });
  const { privateKey, address } = chain.accounts.owner;
  const deployer = createDeployer(chain, privateKey);
  const wallet = address.toLowerCase() as Hex;
  const { Token } = await compileSources({ "token.sol": TOKEN_SOURCE });
  const deployToken = async (symbol: string, decimals: number) => {
    const token = await deployer.deploy(Token as Artifact, [symbol, decimals]);
    await deployer.send(token, "mint", [wallet, 10n ** 30n]);
    return token;
  };
  const [a, b] = [await deployToken("AAA", 6), await deployToken("BBB", 18)];
  const [token0, token1] = a.address < b.address ? [a, b] : [b, a];
  const pin = (listed: readonly Hex[] = [token0.address, token1.address]) => {
    const config: ChainConfig = localChainConfig(listed);
    const { rpc } = createTestRpc([chain.rpcUrl], { limits: { requestTimeoutMs: 60_000 } });
    return createChainAccess(rpc, config).pin(signal);
  };
  return {
    ...{ chain, deployer, wallet, token0, token1, deployToken, pin },
    async read(reader, { listed, searchLogs, ...more } = {}) {
      const pinned = await pin(listed);
      let rounds = 0;
      let requests = 0;
      const at: PinnedChain = {
        ...pinned,
        ...(searchLogs ? { transfers: searchLogs(pinned) } : {}),
        read: (calls, abort) => {
          rounds += 1;
          requests += calls.length;
          return pinned.read(calls, abort);
        },
      };
      const result = await reader.read({ at, wallet, holdings: [], ...more }, signal);
      return { ...result, rounds, requests };
    },
  };
}

/** Raw amounts by contract; the native coin is under "native". */
export function amountsOf(position: ProtocolPosition | undefined): Readonly<Record<string, bigint>> {
  return Object.fromEntries(
    (position?.assets ?? []).map(({ contract, rawBalance }) => [contract ?? "native", rawBalance]),
  );
}
