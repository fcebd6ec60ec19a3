// A local chain with tokens and the portfolio's own access to it, for the readers of vaults and lending markets.

import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import type { Hex } from "viem";
import { createChainAccess } from "../../../src/portfolio/chain-access.ts";
import { type LoanHealth, readHealth } from "../../../src/portfolio/health/read-health.ts";
import type {
  ChainConfig,
  Holding,
  ListedToken,
  PositionReader,
  PositionResult,
} from "../../../src/portfolio/types.ts";
import { createTestRpc } from "../../support/nodes/test-rpc.ts";
import { makeChainConfig } from "../../support/portfolio/portfolio-parts.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import { createDeployer, type DeployedContract, type Deployer } from "../support/deployer.ts";

export const CHAIN_ID = 31337;
const signal = new AbortController().signal;

const TOKEN_SOURCE = `pragma solidity ^0.8.20;
import {ERC20} from "solmate/src/tokens/ERC20.sol";
contract Token is ERC20 {
  constructor(string memory symbol, uint8 decimals) ERC20(symbol, symbol, decimals) {}
  function mint(address to, uint256 amount) external { _mint(to, amount); }
}`;

type Reading = PositionResult & {
  /** Sequential round trips. */
  readonly rounds: number;
  readonly health: readonly LoanHealth[];
};

export type VaultStage = {
  readonly chain: LocalChain;
  readonly deployer: Deployer;
  /** The deployer, lower-case: it owns all shares unless a test says otherwise. */
  readonly wallet: Hex;
  /** A listed token of which the wallet has plenty. */
  deployToken(symbol: string, decimals: number): Promise<DeployedContract>;
  /** The wallet's balance with the contract's own symbol and name. */
  holdingOf(token: DeployedContract): Promise<Holding>;
  read(
    reader: PositionReader,
    state: { readonly holdings?: readonly Holding[]; readonly listed?: readonly Holding[] },
  ): Promise<Reading>;
};

export async function startVaultStage(): Promise<VaultStage> {
  const chain = await startLocalChain({ chainId: CHAIN_ID, code: LOCAL_GENESIS_CODE });
  const { privateKey, address } = chain.accounts.owner;
  const deployer = createDeployer(chain, privateKey);
  const wallet = address.toLowerCase() as Hex;
  const { Token } = await compileSources({ "token.sol": TOKEN_SOURCE });
  return {
    ...{ chain, deployer, wallet },
    async deployToken(symbol, decimals) {
      const token = await deployer.deploy(Token as Artifact, [symbol, decimals]);
      await deployer.send(token, "mint", [wallet, 10n ** 27n]);
      return token;
    },
    async holdingOf(token) {
      const view = <T>(name: string, args: readonly unknown[] = []) => deployer.call<T>(token, name, args);
      return {
        contract: token.address,
        symbol: await view<string>("symbol"),
        name: await view<string>("name"),
        decimals: Number(await view<number>("decimals")),
        logo: null,
        rawBalance: await view<bigint>("balanceOf", [wallet]),
      };
    },
    async read(reader, { holdings = [], listed = [] }) {
      const { rpc } = createTestRpc([chain.rpcUrl], { limits: { requestTimeoutMs: 60_000 } });
      const pinned = await createChainAccess(rpc, localConfig(listed)).pin(signal);
      let rounds = 0;
      const read: typeof pinned.read = (calls, abort) => {
        rounds += 1;
        return pinned.read(calls, abort);
      };
      const result = await reader.read({ at: { ...pinned, read }, wallet, holdings }, signal);
      const { health } = await readHealth({ at: pinned, wallet }, result.positions, signal);
      return { ...result, health, rounds };
    },
  };
}

function localConfig(listed: readonly Holding[]): ChainConfig {
  const tokens = listed.map(({ rawBalance: _, ...token }) => token as ListedToken);
  return makeChainConfig("local", CHAIN_ID, tokens);
}
