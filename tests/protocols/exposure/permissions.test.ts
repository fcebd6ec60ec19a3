// Permissions on the code of others: Permit2, tokens and collections of solmate and OpenZeppelin, Safe, SimpleAccount.
import { requireProven, verify } from "@sextant/client/verify/verify";
import { permit2RuntimeBytecode } from "@sextant/contracts/published/permit2";
import {
  decodeFunctionData,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  numberToHex,
  pad,
} from "viem";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { readExposure } from "../../../src/portfolio/exposure/read-exposure.ts";
import { PERMIT2 } from "../../../src/portfolio/exposure/revocations.ts";
import { createSpenderList } from "../../../src/portfolio/exposure/spenders.ts";
import { describeProvableExposure, ResponseProver } from "../../../src/portfolio/proofs/prove-response.ts";
import { rpcHoldingsProvider } from "../../../src/portfolio/providers/rpc/provider.ts";
import { getAssetKey, type PriceSource, quotePrice } from "../../../src/portfolio/types.ts";
import type { Exposure, ExposurePermission } from "../../../src/schema/portfolio/exposure.ts";
import { startPortfolioStage } from "../../support/portfolio/portfolio-stage.ts";
import { type Artifact, compileSources, readArtifact } from "../support/artifacts.ts";

const SOURCES = `pragma solidity ^0.8.20;
import {ERC20 as Solmate} from "solmate/src/tokens/ERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";
contract SolmateToken is Solmate {
  constructor() Solmate("Solmate", "SOL", 18) {}
  function mint(address to, uint256 amount) external { _mint(to, amount); }
}
contract OpenToken is ERC20 {
  constructor() ERC20("Open", "OPN") {}
  function mint(address to, uint256 amount) external { _mint(to, amount); }
}
contract Collection is ERC721 {
  constructor() ERC721("Collection", "COL") {}
  function mint(address to, uint256 id) external { _mint(to, id); }
}
contract Items is ERC1155 {
  constructor() ERC1155("") {}
}
contract Backdoor {
  address immutable real;
  constructor(address to) { real = to; }
  function takeAll(ERC20 token) external { token.transfer(msg.sender, token.balanceOf(address(this))); }
  fallback() external payable {
    (bool isDone, bytes memory result) = real.delegatecall(msg.data);
    assembly {
      if iszero(isDone) { revert(add(result, 32), mload(result)) }
      return(add(result, 32), mload(result))
    }
  }
}
contract Proxy is ERC1967Proxy {
  constructor(address to, bytes memory data) ERC1967Proxy(to, data) {}
}`;

/** Ours, with the views of Safe's Allowance Module: no package has its code. */
const ALLOWANCE_MODULE = `pragma solidity ^0.8.20;
interface ISafe { function execTransactionFromModule(address, uint256, bytes memory, uint8) external returns (bool); }
contract AllowanceModule {
  mapping(address => address[]) delegates;
  mapping(address => mapping(address => address[])) tokens;
  mapping(address => mapping(address => mapping(address => uint256[2]))) limits;
  function allow(address delegate, address token, uint256 amount) external {
    delegates[msg.sender].push(delegate);
    tokens[msg.sender][delegate].push(token);
    limits[msg.sender][delegate][token] = [amount, 0];
  }
  function getDelegates(address safe, uint48, uint8) external view returns (address[] memory, uint48) {
    return (delegates[safe], 0);
  }
  function getTokens(address safe, address delegate) external view returns (address[] memory) {
    return tokens[safe][delegate];
  }
  function getTokenAllowance(address safe, address delegate, address token) external view returns (uint256[5] memory) {
    uint256[2] storage limit = limits[safe][delegate][token];
    return [limit[0], limit[1], uint256(0), 0, 1];
  }
  function deleteAllowance(address delegate, address token) external { delete limits[msg.sender][delegate][token]; }
  function take(address safe, address token, uint256 amount) external {
    uint256[2] storage limit = limits[safe][msg.sender][token];
    limit[1] += amount;
    require(limit[1] <= limit[0]);
    ISafe(safe).execTransactionFromModule(
      token, 0, abi.encodeWithSignature("transfer(address,uint256)", msg.sender, amount), 0
    );
  }
}`;

const [SIGNED_MODULE, MODULE] = [0x30d8, 0x30d9].map((number) => numberToHex(number, { size: 20 })) as [
  Hex,
  Hex,
];
const stage = await startPortfolioStage({ [PERMIT2]: permit2RuntimeBytecode });
const { chain, wallet } = stage;
const node = await stage.node();
const owner = chain.accounts.owner.address.toLowerCase() as Hex;
const compiled = await compileSources({ "exposure.sol": SOURCES, "allowance-module.sol": ALLOWANCE_MODULE });
const { signal } = new AbortController();
const [ROUTER, OUTSIDER, OPERATOR] = [0xa1, 0xb2, 0xc3].map((number) =>
  numberToHex(number, { size: 20 }),
) as [Hex, Hex, Hex];

async function send(to: Hex | null, data: Hex, from: Hex = wallet): Promise<void> {
  const transaction = { from, ...(to === null ? {} : { to }), data, gas: numberToHex(12_000_000) };
  const hash = await chain.request("eth_sendTransaction", [transaction]);
  const receipt = (await chain.request("eth_getTransactionReceipt", [hash])) as { status: Hex };
  if (receipt.status !== "0x1") throw new Error(`a transaction to ${to} failed`);
}

type Deployed = {
  readonly address: Hex;
  call(name: string, args: readonly unknown[], from?: Hex): Promise<void>;
};

async function deploy(artifact: Artifact | undefined, args: readonly unknown[] = []): Promise<Deployed> {
  if (!artifact) throw new Error("the contract is not compiled");
  const nonce = BigInt((await chain.request("eth_getTransactionCount", [owner, "latest"])) as Hex);
  await send(null, encodeDeployData({ ...artifact, args }), owner);
  const address = getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
  return contractAt(address, artifact);
}

function contractAt(address: Hex, { abi }: Pick<Artifact, "abi">): Deployed {
  return {
    address,
    call: (functionName, args, from) => send(address, encodeFunctionData({ abi, functionName, args }), from),
  };
}

const spenders = createSpenderList(
  [
    {
      name: "Router",
      protocol: "Test",
      kind: "router",
      takesPermit2: true,
      source: "this test",
      deployments: [[chain.chainId, ROUTER]],
    },
    {
      name: "Permit2",
      protocol: "Uniswap",
      kind: "permit2",
      source: "this test",
      deployments: [[chain.chainId, PERMIT2]],
    },
    {
      name: "Market",
      protocol: "Test",
      kind: "marketplace",
      source: "this test",
      deployments: [[chain.chainId, OPERATOR]],
    },
    {
      ...{ name: "Signed Module", protocol: "Test", kind: "signed-module", source: "this test" },
      deployments: [[chain.chainId, SIGNED_MODULE]],
    },
    {
      ...{ name: "Allowance Module", protocol: "Test", kind: "allowance-module", source: "this test" },
      deployments: [[chain.chainId, MODULE]],
    },
  ],
  "1 (2026-01-01)",
);
const priceSource: PriceSource = {
  name: "test",
  read: async ({ assets }) => ({
    prices: new Map(assets.map((asset) => [getAssetKey(asset), quotePrice({ units: 2n, scale: 0 })])),
    warnings: [],
  }),
};

function read(
  of: Hex = wallet,
  listed: readonly Hex[] = [],
  askedSpenders?: readonly Hex[],
): Promise<Exposure> {
  const access = stage.port(node, listed);
  const options = {
    provider: rpcHoldingsProvider,
    priceSources: [[priceSource]],
    positionReaders: [],
    spenders,
    clock: systemClock,
  };
  const query = { wallet: of, slugs: [access.chain.slug], askedSpenders };
  return readExposure({ ...options, chains: new Map([[access.chain.slug, access]]) }, query, signal);
}

const label = ({ kind, contract, spender, rawAllowance, tokenId }: ExposurePermission) =>
  [kind, contract, spender, rawAllowance, tokenId].join(" ");

const [MAX, MAX160] = [2n ** 256n - 1n, 2n ** 160n - 1n];
const permit2 = contractAt(PERMIT2, {
  abi: [
    {
      ...{ type: "function", name: "approve", stateMutability: "nonpayable", outputs: [] },
      inputs: ["address", "address", "uint160", "uint48"].map((type) => ({ type })),
    },
  ],
});

it("has Permit2 as Uniswap published it, in the script by which v4-periphery places it", () => {
  const { bytecode } = readArtifact("@uniswap/v4-periphery/foundry-out/DeployPermit2.sol/DeployPermit2.json");
  // The metadata of its compiler, 0.8.17, ends the code.
  expect(permit2RuntimeBytecode).toMatch(/^0x6040608081.{18200,18300}a164736f6c6343000811000a$/);
  expect(bytecode).toContain(permit2RuntimeBytecode.slice(2));
});

describe("permissions of a wallet", () => {
  it("lists the live permissions of tokens, Permit2 and collections, and each is ended by its own revocation", async () => {
    const [solmate, open, usdt] = [
      await deploy(compiled.SolmateToken),
      await deploy(compiled.OpenToken),
      await deploy(compiled.SolmateToken),
    ] as [Deployed, Deployed, Deployed];
    const [collection, items] = [await deploy(compiled.Collection), await deploy(compiled.Items)];
    const WHOLE = 10n ** 18n;
    for (const token of [solmate, open]) await token.call("mint", [wallet, 100n * WHOLE]);
    await collection.call("mint", [wallet, 7n]);
    await collection.call("mint", [wallet, 8n]);
    const now = BigInt(
      ((await chain.request("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex }).timestamp,
    );
    // Unlimited, finite, zeroed.
    await solmate.call("approve", [ROUTER, MAX], wallet);
    await open.call("approve", [OUTSIDER, 30n * WHOLE], wallet);
    await open.call("approve", [ROUTER, 5n], wallet);
    await open.call("approve", [ROUTER, 0n], wallet);
    // In Permit2: more than Permit2 may take; expired; zeroed; of a token that Permit2 may not take.
    await open.call("approve", [PERMIT2, 40n * WHOLE], wallet);
    await permit2.call("approve", [open.address, ROUTER, MAX160, now + 1_000_000n], wallet);
    await permit2.call("approve", [open.address, OUTSIDER, 50n, now + 2n], wallet);
    await permit2.call("approve", [solmate.address, OUTSIDER, 0n, now + 1_000_000n], wallet);
    await permit2.call("approve", [usdt.address, OUTSIDER, 9n, now + 1_000_000n], wallet);
    // Operators of collections, taken back once, and one NFT; one approval ended with its transfer.
    await collection.call("setApprovalForAll", [OPERATOR, true], wallet);
    await items.call("setApprovalForAll", [OUTSIDER, true], wallet);
    await items.call("setApprovalForAll", [OPERATOR, true], wallet);
    await items.call("setApprovalForAll", [OPERATOR, false], wallet);
    await collection.call("approve", [OUTSIDER, 7n], wallet);
    await collection.call("approve", [OUTSIDER, 8n], wallet);
    await collection.call("transferFrom", [wallet, owner, 8n], wallet);
    await chain.increaseTime(60n);
    await chain.request("evm_mine", []);
    const listed = [solmate.address, open.address];
    const { permissions, summary } = await read(wallet, listed);
    expect(permissions.map(label).sort()).toEqual(
      [
        `erc20-allowance ${solmate.address} ${ROUTER} ${MAX} `,
        `erc20-allowance ${open.address} ${OUTSIDER} ${30n * WHOLE} `,
        `erc20-allowance ${open.address} ${PERMIT2} ${40n * WHOLE} `,
        `permit2-allowance ${open.address} ${ROUTER} ${MAX160} `,
        `permit2-allowance ${usdt.address} ${OUTSIDER} 9 `,
        `nft-operator ${collection.address} ${OPERATOR}  `,
        `nft-operator ${items.address} ${OUTSIDER}  `,
        `nft-approval ${collection.address} ${OUTSIDER}  7`,
      ].sort(),
    );
    const riskOf = (kind: string, contract: Hex, spender: Hex) =>
      permissions.find((one) => one.kind === kind && one.contract === contract && one.spender === spender)
        ?.valueAtRiskUsd;
    expect(riskOf("erc20-allowance", solmate.address, ROUTER)).toBe("200");
    expect(riskOf("permit2-allowance", open.address, ROUTER)).toBe("80");
    expect(riskOf("permit2-allowance", usdt.address, OUTSIDER)).toBe("0");
    // Everything of one token, 30 and 40 of the other; what is in Permit2 is part of the 40.
    expect(summary.valueAtRiskUsd).toBe("340");
    let left = permissions.map(label);
    for (const permission of permissions) {
      if (permission.revoke?.type !== "call") throw new Error(`${permission.kind} has no call`);
      await send(permission.revoke.to, permission.revoke.data);
      left = left.filter((one) => one !== label(permission));
      expect((await read(wallet, listed)).permissions.map(label).sort()).toEqual(left.toSorted());
    }
  });

  it("each has a proof that a reader's node confirms, also zero, one that ended, and the owner of an NFT", async () => {
    const [solmate, open] = [await deploy(compiled.SolmateToken), await deploy(compiled.OpenToken)];
    const collection = await deploy(compiled.Collection);
    for (const token of [solmate, open]) await token.call("mint", [wallet, 100n]);
    await collection.call("mint", [wallet, 2n ** 200n]);
    await collection.call("approve", [OUTSIDER, 2n ** 200n], wallet);
    const { timestamp } = (await chain.request("eth_getBlockByNumber", ["latest", false])) as {
      timestamp: Hex;
    };
    await open.call("approve", [OUTSIDER, 30n], wallet);
    await open.call("approve", [PERMIT2, 40n], wallet);
    await permit2.call("approve", [open.address, OUTSIDER, 50n, BigInt(timestamp) + 20n], wallet);
    await permit2.call("approve", [solmate.address, OUTSIDER, 0n, BigInt(timestamp) + 1_000_000n], wallet);
    await chain.increaseTime(60n);
    await chain.request("evm_mine", []);
    const listed = [solmate.address, open.address];
    const exposure = await read(wallet, listed, [OUTSIDER, ROUTER]);
    const { allowances = [], permissions } = exposure;
    const stated = allowances.filter(({ rawAllowance }) => rawAllowance !== "0");
    expect(
      stated.map(({ kind, spender, rawAllowance }) => `${kind} ${spender} ${rawAllowance}`).sort(),
    ).toEqual([`erc20-allowance ${OUTSIDER} 30`, `permit2-allowance ${OUTSIDER} 50`]);
    expect(allowances).toHaveLength(2 * 2 * listed.length);
    const access = stage.port(node, listed);
    const prover = new ResponseProver(new Map([[access.chain.slug, access]]), systemClock);
    const options = { isPast: false, budgetMs: 30_000 };
    const { proofs } = await prover.prove(describeProvableExposure(exposure), options, signal);
    const text = JSON.stringify({ ...exposure, proofs });
    const result = await verify(text, { nodes: [chain.rpcUrl], nodesMin: 1 });
    expect(result.rows.filter(({ status }) => status === "wrong")).toEqual([]);
    for (const index of allowances.keys()) requireProven(result, `/allowances/${index}/rawAllowance`);
    const nft = permissions.findIndex(({ kind }) => kind === "nft-approval");
    requireProven(result, `/permissions/${nft}/tokenId`);
  });
});

describe("a token of ERC-777", () => {
  const REGISTRY: Hex = "0x1820a4b7618bde71dce8cdc73aab6c95905fad24";

  it("shows its default operators and those of the wallet, until their own call revokes them", async () => {
    const artifact = readArtifact(
      "@uniswap/v3-periphery/node_modules/@openzeppelin/contracts/build/contracts/ERC777PresetFixedSupply.json",
    );
    // A registry that knows no hooks: the token asks it before each transfer.
    await chain.setCode(REGISTRY, "0x5f5f5260205ff3");
    const byDefault = numberToHex(0x7771, { size: 20 });
    const token = await deploy(artifact, ["Old", "OLD", [byDefault], 1_000n * 10n ** 18n, wallet]);
    await token.call("authorizeOperator", [owner], wallet);
    const operators = async () => {
      const { permissions, summary } = await read(wallet, [token.address]);
      const found = permissions.filter(({ kind }) => kind === "token-operator");
      return { found, names: found.map(({ spender }) => spender).sort(), summary };
    };
    const before = await operators();
    expect(before.names).toEqual([byDefault, owner].sort());
    expect(before.found).toMatchObject([{ valueAtRiskUsd: "2000" }, { valueAtRiskUsd: "2000" }]);
    for (const { revoke } of before.found) {
      if (revoke?.type !== "call") throw new Error("an operator is ended by a call");
      await send(revoke.to, revoke.data, wallet);
    }
    expect((await operators()).names).toEqual([]);
    await token.call("authorizeOperator", [owner], wallet);
    expect((await operators()).names).toEqual([owner]);
    await token.call("operatorSend", [wallet, owner, 1_000n * 10n ** 18n, "0x", "0x"], owner);
    expect((await operators()).names).toEqual([]);
  });
});

const SAFE = "@safe-global/safe-smart-account/build/artifacts/contracts";
const ZERO: Hex = numberToHex(0, { size: 20 });
/** The address at which Safe published this singleton, by which a Safe is known. */
const SINGLETON: Hex = "0xff51a5898e281db6dfc7855790607438df2ca44b";

/** A proxy of Safe, in front of the published singleton. */
async function deploySafe(singleton: Artifact): Promise<Deployed> {
  const template = await deploy(singleton);
  await chain.setCode(SINGLETON, (await chain.request("eth_getCode", [template.address, "latest"])) as Hex);
  const proxy = await deploy(readArtifact(`${SAFE}/proxies/SafeProxy.sol/SafeProxy.json`), [SINGLETON]);
  return contractAt(proxy.address, singleton);
}

describe("a Safe", () => {
  it("shows owners, modules and handler, and each is ended by its own transaction", async () => {
    const singleton = readArtifact(`${SAFE}/Safe.sol/Safe.json`);
    const safe = await deploySafe(singleton);
    const handler = await deploy(
      readArtifact(`${SAFE}/handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json`),
    );
    await safe.call("setup", [[owner, wallet], 1n, ZERO, "0x", handler.address, ZERO, 0n, ZERO]);
    // A signature with v = 1 says that the sender is the owner who approves.
    const approval: Hex = `0x${pad(wallet).slice(2)}${"0".repeat(64)}01`;
    const execute = (to: Hex, data: Hex) =>
      safe.call("execTransaction", [to, 0n, data, 0, 0n, 0n, 0n, ZERO, ZERO, approval], wallet);
    const own = (functionName: string, args: readonly unknown[]) =>
      execute(safe.address, encodeFunctionData({ abi: singleton.abi, functionName, args }));
    const modules = [numberToHex(0x30d1, { size: 20 }), numberToHex(0x30d2, { size: 20 })];
    for (const module of modules) await own("enableModule", [module]);
    const { permissions } = await read(safe.address);
    expect(permissions.map(({ kind, spender }) => `${kind} ${spender}`).sort()).toEqual(
      [
        ...modules.map((module) => `module ${module}`),
        `fallback-handler ${handler.address}`,
        ...[owner, wallet].map((one) => `owner ${one}`),
      ].sort(),
    );
    // The owner who signs here stays; a module's revocation names the one before it, so each is read again.
    for (let rounds = permissions.length; rounds > 1; rounds -= 1) {
      const before = (await read(safe.address)).permissions.filter(({ spender }) => spender !== wallet);
      const [first] = before;
      if (first?.revoke?.type !== "call") throw new Error("a permission of a Safe is ended by a call");
      expect(first.revoke.from).toBe(safe.address);
      decodeFunctionData({ abi: singleton.abi, data: first.revoke.data });
      await execute(first.revoke.to, first.revoke.data);
      const after = (await read(safe.address)).permissions.filter(({ spender }) => spender !== wallet);
      expect(after.map(label).sort()).toEqual(before.slice(1).map(label).sort());
    }
    expect((await read(safe.address)).permissions.map(label)).toEqual([`owner ${safe.address} ${wallet}  `]);
  });
});

describe("a Safe whose proxy runs another singleton", () => {
  it("puts an unknown part at risk, although it says all that a Safe says, and an outsider takes everything", async () => {
    const singleton = readArtifact(`${SAFE}/Safe.sol/Safe.json`);
    const safe = await deploySafe(singleton);
    await safe.call("setup", [[owner, wallet], 2n, ZERO, "0x", ZERO, ZERO, 0n, ZERO]);
    const token = await deploy(compiled.OpenToken);
    await token.call("mint", [safe.address, 1_000n * 10n ** 18n]);
    expect((await read(safe.address, [token.address])).summary).toMatchObject({
      ...{ valueAtRiskUsd: "0", partial: false },
    });
    const backdoor = await deploy(compiled.Backdoor, [SINGLETON]);
    await chain.request("hardhat_setStorageAt", [safe.address, "0x0", pad(backdoor.address)]);
    const { summary, permissions } = await read(safe.address, [token.address]);
    expect(summary).toMatchObject({ valueAtRiskUsd: null, partial: true });
    expect(permissions[0]).toMatchObject({
      ...{
        kind: "account-code",
        spender: backdoor.address,
        valueAtRiskUsd: null,
        reasons: ["unverified code"],
      },
    });
    await contractAt(safe.address, { abi: compiled.Backdoor?.abi ?? [] }).call("takeAll", [token.address]);
    const balanceOf = { abi: compiled.OpenToken?.abi ?? [], functionName: "balanceOf", args: [safe.address] };
    const call = { to: token.address, data: encodeFunctionData(balanceOf) };
    expect(BigInt((await chain.request("eth_call", [call, "latest"])) as Hex)).toBe(0n);
  });
});

describe("known modules of a Safe", () => {
  it("known modules of a Safe count nothing if they act on its owners' signatures, and their limits if they have them", async () => {
    const singleton = readArtifact(`${SAFE}/Safe.sol/Safe.json`);
    const safe = await deploySafe(singleton);
    await safe.call("setup", [[owner, wallet], 2n, ZERO, "0x", ZERO, ZERO, 0n, ZERO]);
    const token = await deploy(compiled.OpenToken);
    await token.call("mint", [safe.address, 1_000n * 10n ** 18n]);
    const template = await deploy(compiled.AllowanceModule);
    await chain.setCode(MODULE, (await chain.request("eth_getCode", [template.address, "latest"])) as Hex);
    const approve = async (to: Hex, data: Hex) => {
      const hash = await chain.request("eth_call", [
        {
          to: safe.address,
          data: encodeFunctionData({
            abi: singleton.abi,
            functionName: "getTransactionHash",
            args: [to, 0n, data, 0, 0n, 0n, 0n, ZERO, ZERO, await nonceOf()],
          }),
        },
        "latest",
      ]);
      await safe.call("approveHash", [hash], owner);
      const [first, second] = [owner, wallet].sort();
      const signatures: Hex = `0x${[first, second].map((one) => `${pad(one as Hex).slice(2)}${"0".repeat(64)}01`).join("")}`;
      await safe.call("execTransaction", [to, 0n, data, 0, 0n, 0n, 0n, ZERO, ZERO, signatures], wallet);
    };
    const nonceOf = async () =>
      BigInt(
        (await chain.request("eth_call", [
          { to: safe.address, data: encodeFunctionData({ abi: singleton.abi, functionName: "nonce" }) },
          "latest",
        ])) as Hex,
      );
    const own = (functionName: string, args: readonly unknown[]) =>
      approve(safe.address, encodeFunctionData({ abi: singleton.abi, functionName, args }));
    for (const module of [SIGNED_MODULE, MODULE]) await own("enableModule", [module]);
    const listed = [token.address];
    expect((await read(safe.address, listed)).summary.valueAtRiskUsd).toBe("0");
    const abi = compiled.AllowanceModule?.abi ?? [];
    const allow = encodeFunctionData({
      ...{ abi, functionName: "allow" },
      args: [wallet, token.address, 30n * 10n ** 18n],
    });
    await approve(MODULE, allow);
    await contractAt(MODULE, { abi }).call("take", [safe.address, token.address, 10n * 10n ** 18n], wallet);
    const { permissions, summary } = await read(safe.address, listed);
    // Twenty of thirty are left, at two dollars each.
    expect(summary).toMatchObject({ valueAtRiskUsd: "40", partial: false });
    const limit = permissions.find(({ kind }) => kind === "module-allowance");
    expect(limit).toMatchObject({
      ...{ contract: token.address, spender: wallet, via: MODULE, allowance: "20", valueAtRiskUsd: "40" },
    });
    if (limit?.revoke?.type !== "call") throw new Error("a limit is ended by a call");
    await approve(limit.revoke.to, limit.revoke.data);
    expect((await read(safe.address, listed)).summary.valueAtRiskUsd).toBe("0");
    // A module that is on no list can take everything.
    await own("enableModule", [numberToHex(0x30da, { size: 20 })]);
    expect((await read(safe.address, listed)).summary.valueAtRiskUsd).toBe("1980");
  });
});

describe("an account of ERC-4337", () => {
  it("shows its owner and its entry point", async () => {
    const artifact = readArtifact("@account-abstraction/contracts/artifacts/SimpleAccount.json");
    const entryPoint: Hex = "0x4337084d9e255ff0702461cf8895ce9e3b5ff108";
    const implementation = await deploy(artifact, [entryPoint]);
    const data = encodeFunctionData({ abi: artifact.abi, functionName: "initialize", args: [wallet] });
    const { address } = await deploy(compiled.Proxy, [implementation.address, data]);
    const { permissions } = await read(address);
    // Its code is on no list, so that nothing is known about the rest.
    expect(permissions.map(({ kind, spender, reasons }) => [kind, spender, reasons])).toEqual([
      ["account-code", address, ["unverified code"]],
      ["entry-point", entryPoint, []],
      ["owner", wallet, ["full control"]],
    ]);
  });
});
