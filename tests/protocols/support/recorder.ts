// Records what a protocol's own contracts, run on a local chain, return to our readers.
//
// For protocols whose contracts no npm package has. The recorder deploys what the protocol's own build left in a folder of
// compiled contracts and builds nothing itself. A recording has responses, amounts and the name of their source.

import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import type { Hex } from "viem";
import { MULTICALL3 } from "../../../src/chain/aggregate3.ts";
import type { NodeLog } from "../../../src/chain/logs/log.ts";
import { createChainAccess } from "../../../src/portfolio/chain-access.ts";
import type {
  Holding,
  ListedToken,
  PinnedChain,
  PositionReader,
  TransferLog,
} from "../../../src/portfolio/types.ts";
import type { Exposure, ExposurePermission } from "../../../src/schema/portfolio/exposure.ts";
import { createTestRpc } from "../../support/nodes/test-rpc.ts";
import { makeChainConfig } from "../../support/portfolio/portfolio-parts.ts";
import { type ExposedWallet, readExposureAt } from "../../support/portfolio/recorded-exposure.ts";
import { type Artifact, compileSources, readArtifact, readArtifactFile } from "./artifacts.ts";
import { createDeployer, type DeployedContract, type Deployer } from "./deployer.ts";

const CHAIN_ID = 31337;
/** The suite of all readers asks for this one as well. */
const EMPTY_WALLET: Hex = `0x${"5e".repeat(20)}`;
const signal = new AbortController().signal;
const REVOKE_GAS: Hex = "0x2dc6c0";
const TOKEN = "@aave/core-v3/artifacts/contracts/mocks/tokens/MintableERC20.sol/MintableERC20.json";
const PROXY_SOURCE = `pragma solidity ^0.8.20;
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";
contract PlainProxy is ERC1967Proxy {
  constructor(address implementation) ERC1967Proxy(implementation, "") {}
  receive() external payable { _fallback(); }
}`;

/** The input of a reader about the wallet, and the protocol's own figures about it. */
type Moment = {
  readonly readers: readonly PositionReader[];
  readonly holdings?: readonly Holding[];
  readonly listed?: readonly Holding[];
  readonly transfers?: readonly TransferLog[];
  /** Also records who may act for the wallet, or for this account of the protocol. */
  readonly exposed?: Partial<Pick<ExposedWallet, "wallet" | "spenders">>;
  /** Results of the protocol's views and payments; the expected values of the tests. */
  readonly views: Readonly<Record<string, unknown>>;
};

export type Recorder = {
  readonly chain: LocalChain;
  /** Deploys and sends as the protocol's owner. */
  readonly deployer: Deployer;
  /** Lower-case, with the key to send as it. */
  readonly wallet: Hex;
  readonly asWallet: { readonly key: Hex };
  /** A compiled contract of the folder, by its name. */
  artifact(name: string, libraries?: Readonly<Record<string, Hex>>): Artifact;
  /** The same behind a proxy, as most protocols deploy. */
  deployProxied(name: string, args?: readonly unknown[]): Promise<DeployedContract>;
  /** A token that the owner can mint. */
  deployToken(symbol: string, decimals: number): Promise<DeployedContract>;
  /** The wallet's balance with the contract's own symbol and name. */
  holdingOf(token: DeployedContract): Promise<Holding>;
  /** Records what the readers ask in the newest block, for the wallet and for one that never used the protocol. */
  record(name: string, moment: Moment): Promise<Exposure | null>;
  /**
   * Records who may act for the wallet, ends each permission by the call of the response, and records what is left as
   * "<name>, revoked".
   */
  recordExposed(name: string, moment: Omit<Moment, "exposed">): Promise<void>;
  /** Writes all that was recorded, with what else a test needs, such as addresses. */
  write(file: string, facts: Readonly<Record<string, unknown>>): void;
};

/** `source` names the repository, its commit and the date of that. */
export async function startRecorder(folder: string, source: string): Promise<Recorder> {
  const chain = await startLocalChain({ chainId: CHAIN_ID, code: LOCAL_GENESIS_CODE });
  const { owner, payer } = chain.accounts;
  const deployer = createDeployer(chain, owner.privateKey);
  const wallet = payer.address.toLowerCase() as Hex;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const cases: Record<string, object> = {};
  const artifact = (name: string, libraries: Readonly<Record<string, Hex>> = {}) => {
    const file = files.find((path) => basename(path) === `${name}.json`);
    if (file === undefined) throw new Error(`${name} is not in ${folder}`);
    return readArtifactFile(join(folder, file), libraries);
  };
  const record = async (name: string, moment: Moment) => {
    const { exposure, recorded } = await recordMoment(chain, wallet, moment);
    cases[name] = recorded;
    return exposure;
  };
  const { PlainProxy: proxy } = await compileSources({ "proxy.sol": PROXY_SOURCE });
  return {
    ...{ chain, deployer, wallet, asWallet: { key: payer.privateKey }, artifact },
    async deployProxied(name, args = []) {
      const { address, abi } = await deployer.deploy(artifact(name), args);
      return { ...(await deployer.deploy(proxy as Artifact, [address])), abi };
    },
    deployToken: (symbol, decimals) => deployer.deploy(readArtifact(TOKEN), [symbol, symbol, decimals]),
    holdingOf: (token) => readHolding(deployer, token, wallet),
    record,
    async recordExposed(name, moment) {
      const exposure = await record(name, { ...moment, exposed: {} });
      await revokeAll(chain, exposure?.permissions ?? []);
      await record(`${name}, revoked`, { ...moment, exposed: {} });
    },
    write(file, facts) {
      const recordedOn = new Date().toISOString().slice(0, 10);
      const recordedBy = "tests/protocols/recordings/run.ts";
      const recording = { source, recordedBy, recordedOn, wallet, ...facts, cases };
      writeFileSync(file, `${JSON.stringify(recording, writeExactly, 2)}\n`);
    },
  };
}

async function readHolding(deployer: Deployer, token: DeployedContract, wallet: Hex): Promise<Holding> {
  const view = <T>(name: string, args: readonly unknown[] = []) => deployer.call<T>(token, name, args);
  return {
    contract: token.address,
    symbol: await view<string>("symbol"),
    name: await view<string>("name"),
    decimals: Number(await view<number>("decimals")),
    logo: null,
    rawBalance: await view<bigint>("balanceOf", [wallet]),
  };
}

async function pin(chain: LocalChain, listed: readonly Holding[]): Promise<PinnedChain> {
  const { rpc } = createTestRpc([chain.rpcUrl], { limits: { requestTimeoutMs: 60_000 } });
  const tokens = listed.map(({ rawBalance: _, ...token }) => token as ListedToken);
  return createChainAccess(rpc, makeChainConfig("local", CHAIN_ID, tokens)).pin(signal);
}

/** Reads as a chain without Multicall3, so that every single response is kept. */
function keepResponses(at: PinnedChain, responses: Record<string, Hex | null>): PinnedChain {
  return {
    ...at,
    read: async (calls, stop) => {
      const single = calls.filter(({ to }) => to !== MULTICALL3);
      const results = await at.read(single, stop);
      for (const [index, { to, data }] of single.entries()) {
        responses[`${to} ${data}`] = results[index] ?? null;
      }
      return calls.map(({ to, data }) => (to === MULTICALL3 ? null : (responses[`${to} ${data}`] ?? null)));
    },
    callWithOverride: async (call, stop) => {
      const result = await at.callWithOverride(call, stop);
      responses[`override ${call.data}`] = result;
      return result;
    },
  };
}

async function recordMoment(
  chain: LocalChain,
  wallet: Hex,
  { readers, holdings = [], listed = [], transfers, exposed, views }: Moment,
): Promise<{ readonly recorded: object; readonly exposure: Exposure | null }> {
  const at = await pin(chain, listed);
  const responses: Record<string, Hex | null> = {};
  for (const reader of readers) {
    const query = { wallet, holdings, ...(transfers ? { transfers } : {}) };
    await reader.read({ at: keepResponses(at, responses), ...query }, signal);
    await reader.read({ at: keepResponses(at, responses), wallet: EMPTY_WALLET, holdings: [] }, signal);
  }
  const found = exposed && (await recordExposure(at, { wallet, holdings, readers, ...exposed }, responses));
  return {
    recorded: {
      block: at.block,
      holdings,
      listed,
      ...(transfers ? { transfers } : {}),
      ...(found ? { exposure: { code: found.code, logs: found.logs } } : {}),
      views,
      responses,
    },
    exposure: found?.exposure ?? null,
  };
}

/** The wallet sends what the response says. */
async function revokeAll(chain: LocalChain, permissions: readonly ExposurePermission[]): Promise<void> {
  for (const { revoke, kind } of permissions) {
    if (revoke?.type !== "call") throw new Error(`${kind} has no call`);
    const { from, to, data } = revoke;
    const hash = await chain.request("eth_sendTransaction", [{ from, to, data, gas: REVOKE_GAS }]);
    const receipt = (await chain.request("eth_getTransactionReceipt", [hash])) as { status: Hex };
    if (receipt.status !== "0x1") throw new Error(`${kind} is not ended by its call`);
  }
}

async function recordExposure(
  at: PinnedChain,
  exposed: ExposedWallet,
  responses: Record<string, Hex | null>,
): Promise<{ readonly exposure: Exposure; readonly code: Hex; readonly logs: readonly NodeLog[] }> {
  const logs = new Map<string, NodeLog>();
  const chain: PinnedChain = {
    ...keepResponses(at, responses),
    logs: async (filter, stop) => {
      const found = await at.logs(filter, stop);
      for (const log of found) logs.set(`${log.blockNumber} ${log.logIndex}`, log);
      return found;
    },
  };
  const exposure = await readExposureAt(chain, exposed, signal);
  return { exposure, code: await at.code(exposed.wallet, signal), logs: [...logs.values()] };
}

/** A float would round. */
function writeExactly(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
