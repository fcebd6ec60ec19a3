// Safe by its own bytecode: a proxy over the published singleton is proven, one over another contract is not.
import type { Hex } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { type AccountFacts, readAccount } from "../../../src/portfolio/account/kind.ts";
import { startPortfolioStage } from "../../support/portfolio/portfolio-stage.ts";
import { readArtifact } from "../support/artifacts.ts";
import { createDeployer, type Deployer } from "../support/deployer.ts";

const PACKAGE = "@safe-global/safe-smart-account/build/artifacts/contracts";
const SAFE = readArtifact(`${PACKAGE}/SafeL2.sol/SafeL2.json`);
const PROXY = readArtifact(`${PACKAGE}/proxies/SafeProxy.sol/SafeProxy.json`);
/** The address at which Safe published this singleton. */
const PUBLISHED: Hex = "0xedd160febbd92e350d4d398fb636302fccd67c7e";
const ZERO: Hex = "0x0000000000000000000000000000000000000000";
const OWNERS: readonly Hex[] = [
  "0x00000000000000000000000000000000000000a1",
  "0x00000000000000000000000000000000000000a2",
  "0x00000000000000000000000000000000000000a3",
];
const { signal } = new AbortController();

let deployer: Deployer;
let deployed: Hex;
let read: (wallet: Hex) => Promise<AccountFacts>;

beforeAll(async () => {
  const stage = await startPortfolioStage();
  deployer = createDeployer(stage.chain, stage.chain.accounts.owner.privateKey);
  ({ address: deployed } = await deployer.deploy(SAFE));
  const code = (await stage.chain.request("eth_getCode", [deployed, "latest"])) as Hex;
  await stage.chain.setCode(PUBLISHED, code);
  await stage.chain.mine();
  const port = stage.port(await stage.node());
  read = async (wallet) => (await readAccount({ at: await port.pin(signal), wallet }, signal)).account;
}, 240_000);

/** A Safe of three owners, two of whom must sign. */
async function createSafe(singleton: Hex): Promise<Hex> {
  const { address } = await deployer.deploy(PROXY, [singleton]);
  const setup = [OWNERS, 2n, ZERO, "0x", ZERO, ZERO, 0n, ZERO];
  await deployer.send({ address, abi: SAFE.abi }, "setup", setup);
  return address;
}

describe("a Safe", () => {
  it("proves a Safe by its proxy and published singleton, with owners and threshold", async () => {
    expect(await read(await createSafe(PUBLISHED))).toEqual({
      ...{ kind: "safe", proven: true, delegate: null, implementation: PUBLISHED },
      ...{ version: "1.5.0+L2", owners: OWNERS, threshold: 2, entryPoint: null },
    });
  });

  it("shows a Safe with another singleton as not proven", async () => {
    expect(await read(await createSafe(deployed))).toMatchObject({
      ...{ kind: "safe", proven: false, implementation: deployed, version: "1.5.0", threshold: 2 },
    });
  });

  it("shows a Safe that is not set up as a contract", async () => {
    const { address } = await deployer.deploy(PROXY, [PUBLISHED]);
    expect(await read(address)).toMatchObject({ kind: "contract", owners: null });
  });
});
