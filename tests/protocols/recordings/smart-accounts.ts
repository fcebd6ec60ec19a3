// Accounts that others may act for: a Safe with its Allowance Module, and a wallet that runs Calibur by EIP-7702.
import {
  createWalletClient,
  defineChain,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
  pad,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import type { Exposure } from "../../../src/schema/portfolio/exposure.ts";
import { RECORDED_THIEF } from "../../support/portfolio/recorded-exposure.ts";
import { readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

const SAFE = "@safe-global/safe-smart-account/build/artifacts/contracts";
/** The address at which Safe published this singleton on every chain: by it the proxy proves a Safe. */
const SAFE_SINGLETON: Hex = "0xff51a5898e281db6dfc7855790607438df2ca44b";
const ZERO: Hex = `0x${"0".repeat(40)}`;
const UNIT = 10n ** 18n;
const DAY = 86_400n;
const DAY_MINUTES = 1_440;

type SafeAccount = {
  readonly address: Hex;
  /** The Safe calls a contract, with the approval of its only owner. */
  execute(to: Hex, data: Hex): Promise<void>;
};

async function createSafe({ chain, deployer, wallet, asWallet }: Recorder): Promise<SafeAccount> {
  const { deploy, send } = deployer;
  const { address: template, abi } = await deploy(readArtifact(`${SAFE}/Safe.sol/Safe.json`));
  await chain.setCode(SAFE_SINGLETON, (await chain.request("eth_getCode", [template, "latest"])) as Hex);
  const { address } = await deploy(readArtifact(`${SAFE}/proxies/SafeProxy.sol/SafeProxy.json`), [
    SAFE_SINGLETON,
  ]);
  const safe = { address, abi };
  await send(safe, "setup", [[wallet], 1n, ZERO, "0x", ZERO, ZERO, 0n, ZERO]);
  const approval: Hex = `${pad(wallet)}${"0".repeat(64)}01`;
  return {
    address,
    async execute(to, data) {
      await send(safe, "execTransaction", [to, 0n, data, 0, 0n, 0n, 0n, ZERO, ZERO, approval], asWallet);
    },
  };
}

/** A delegate may spend thirty tokens a day and a tenth of an ether once, and has spent ten tokens. */
export async function recordAllowanceModule(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, artifact, deployToken, holdingOf } = recorder;
  const { deploy, send } = deployer;
  const delegate = chain.accounts.owner.address;
  const safe = await createSafe(recorder);
  const module = await deploy(artifact("AllowanceModule"));
  const token = await deployToken("TOKEN", 18);
  await send(token, "mint", [safe.address, 1_000n * UNIT]);
  const executeCall = ({ address, abi }: DeployedContract, functionName: string, args: readonly unknown[]) =>
    safe.execute(address, encodeFunctionData({ abi, functionName, args }));
  const { abi } = readArtifact(`${SAFE}/Safe.sol/Safe.json`);
  await executeCall({ address: safe.address, abi }, "enableModule", [module.address]);
  await executeCall(module, "addDelegate", [delegate]);
  await executeCall(module, "setAllowance", [delegate, token.address, 30n * UNIT, DAY_MINUTES, 0]);
  await executeCall(module, "setAllowance", [delegate, ZERO, UNIT / 10n, 0, 0]);
  const transfer = [safe.address, token.address, RECORDED_THIEF, 10n * UNIT, ZERO, 0n, delegate, "0x"];
  await send(module, "executeAllowanceTransfer", transfer);

  const recordMoment = async (name: string): Promise<Exposure | null> => {
    const holding = { ...(await holdingOf(token)), rawBalance: 990n * UNIT };
    const spenders = [{ kind: "allowance-module", deployments: [[chain.chainId, module.address]] }] as const;
    const exposed = { wallet: safe.address, spenders };
    return recorder.record(name, { readers: [], holdings: [holding], listed: [holding], exposed, views: {} });
  };
  await recordMoment("spent in part");
  await chain.increaseTime(2n * DAY);
  await chain.mine();
  const renewed = await recordMoment("renewed");
  for (const { kind, revoke } of renewed?.permissions ?? [])
    if (kind === "module-allowance" && revoke?.type === "call") await safe.execute(revoke.to, revoke.data);
  await recordMoment("renewed, revoked");
  recorder.write(file, { safe: safe.address, module: module.address, token: token.address, delegate });
}

/** The number of a key of secp256k1, the curve of other accounts. */
const SECP256K1 = 2;

export async function recordCalibur(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, artifact } = recorder;
  const calibur = await deployer.deploy(artifact("CaliburEntry"));
  const client = createWalletClient({
    account: privateKeyToAccount(chain.accounts.owner.privateKey),
    chain: defineChain({ ...foundry, id: chain.chainId }),
    transport: http(chain.rpcUrl),
  });
  const nonce = Number(await chain.request("eth_getTransactionCount", [wallet, "latest"]));
  const signed = await privateKeyToAccount(asWallet.key).signAuthorization({
    ...{ contractAddress: calibur.address, chainId: chain.chainId, nonce },
  });
  await client.sendTransaction({ to: wallet, authorizationList: [signed], gas: 200_000n });
  const account = { address: wallet, abi: calibur.abi };
  const recordMoment = async (name: string) => {
    const deployments = [[chain.chainId, calibur.address]] as const;
    const spenders = [{ kind: "delegate", furtherKeys: "counted", deployments }] as const;
    const views = { keys: await deployer.call(account, "keyCount") };
    await recorder.record(name, { readers: [], exposed: { spenders }, views });
  };
  await recordMoment("without keys");
  const publicKey = encodeAbiParameters([{ type: "address" }], [RECORDED_THIEF]);
  await deployer.send(account, "register", [{ keyType: SECP256K1, publicKey }], asWallet);
  await recordMoment("with a key");
  recorder.write(file, { delegate: calibur.address });
}
