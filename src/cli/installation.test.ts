// Names, schemas and nodes of the deployments of an installation, and what of a configuration is rejected.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeploymentFiles } from "../../tests/support/deployment-files.ts";
import { MEMORY_DEPLOYMENT } from "../../tests/support/index/memory-index.ts";
import {
  assertNodes,
  chooseDeployment,
  chooseDeployments,
  chooseServedDeployments,
  listKeylessNodes,
} from "./installation.ts";

let files: DeploymentFiles;
beforeAll(async () => {
  files = await DeploymentFiles.create();
});
afterAll(() => files.remove());

/** The path of its file. */
const write = (network: string, chainId = 1) => files.write({ ...MEMORY_DEPLOYMENT, network, chainId });

async function configure(first: string, others: readonly string[], rest: Record<string, string> = {}) {
  return { NETWORK: first, DEPLOYMENTS: others.join(","), ...rest };
}

describe("the deployments of an installation", () => {
  it("gives each deployment a name, a path and a schema", async () => {
    const environment = await configure(await write("Base Sepolia"), [await write("Other__Net!")]);
    const installed = await chooseDeployments({ environment, options: {} });
    expect(installed.map(({ name, base, databaseSchema }) => [name, base, databaseSchema])).toEqual([
      ["base-sepolia", "", "sextant"],
      ["other-net", "/d/other-net", "sextant_other_net"],
    ]);
  });

  it.each([
    ["a name twice", ["one", "One"], /Two deployments have the name one/],
    ["the schema of a rebuild", ["rebuild"], /sextant_rebuild, where the rows of another one are rebuilt/],
    ["the schema of another's rebuild", ["one", "one rebuild"], /sextant_one_rebuild, where the rows/],
    ["a schema that is too long", ["x".repeat(60)], /longer than 48 characters/],
  ])("rejects deployments with %s", async (_what, networks, message) => {
    const others = await Promise.all(networks.map((network, index) => write(network, index + 2)));
    const environment = await configure(await write("default"), others);
    await expect(chooseDeployments({ environment, options: {} })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message,
    });
  });

  it("turns hostile names of deployments into plain schemas", async () => {
    const networks = ["../../etc", "__proto__", "a/b?c#d", 'x"; drop schema y', "主网"];
    const others = await Promise.all(networks.map((network, index) => write(network, index + 2)));
    const environment = await configure(await write("first"), others);
    const installed = await chooseDeployments({ environment, options: {} });
    expect(installed.map(({ databaseSchema }) => databaseSchema)).toEqual([
      "sextant",
      "sextant_etc",
      "sextant_proto",
      "sextant_a_b_c_d",
      "sextant_x_drop_schema_y",
      "sextant_default",
    ]);
  });

  it("gives a deployment the nodes of its chain, also those of the default one", async () => {
    const others = [await write("same", 1), await write("other", 5), await write("none", 6)];
    const environment = await configure(await write("first", 1), others, {
      RPC_URL: "http://one.test",
      RPC_URL_5: "http://five.test",
    });
    const installed = await chooseDeployments({ environment, options: {} });
    const urls = installed.map(({ rpcUrls }) => rpcUrls.map((url) => url.reveal()));
    expect(urls).toEqual([["http://one.test"], ["http://one.test"], ["http://five.test"], []]);
    expect(() => assertNodes(installed)).toThrow(
      /RPC_URL_6 must name at least one node of the chain of none/,
    );
  });

  it("chooses deployments by name or file, and always serves the default one", async () => {
    const second = await write("second", 2);
    const third = await write("third", 3);
    const environment = await configure(await write("first"), [second]);
    const names = (chosen: readonly { readonly name: string }[]) => chosen.map(({ name }) => name);
    const options = { deployment: ["second", third] };
    expect(names(await chooseDeployments({ environment, options }))).toEqual(["second", "third"]);
    expect(names(await chooseServedDeployments({ environment, options }))).toEqual([
      "first",
      "second",
      "third",
    ]);
    expect((await chooseDeployment({ environment, options: { deployment: second } })).name).toBe("second");
    // A file of another deployment that is broken does not concern this one.
    const broken = { ...environment, DEPLOYMENTS: files.missing };
    expect((await chooseDeployment({ environment: broken, options: {} })).name).toBe("first");
    await expect(chooseDeployment({ environment, options: { deployment: "nowhere" } })).rejects.toMatchObject(
      { message: expect.stringContaining("--deployment") },
    );
  });
});

describe("the nodes that a run tells to commands", () => {
  it("a command reads the nodes back as the run has them", async () => {
    const nodes = { RPC_URL: "http://127.0.0.1:8545,wss://node.test/", RPC_URL_2: "https://two.test" };
    const environment = await configure(await write("one"), [await write("two", 2)], nodes);
    expect(listKeylessNodes(await chooseDeployments({ environment, options: {} }))).toEqual({
      RPC_URL: "http://127.0.0.1:8545,wss://node.test/",
      RPC_URL_2: "https://two.test",
    });
  });

  it.each([
    "https://node.test/v2/key",
    "https://node.test/?key=1",
    "https://user:password@node.test",
    "https://node.test/#key",
  ])("a run tells commands no URL that may hold a key: %s", async (url) => {
    const environment = { NETWORK: await write("keyed"), RPC_URL: `http://a.test,${url}` };
    const installed = await chooseDeployments({ environment, options: {} });
    expect(listKeylessNodes(installed)).toEqual({ RPC_URL: "http://a.test" });
    const keyed = await chooseDeployments({ environment: { ...environment, RPC_URL: url }, options: {} });
    expect(listKeylessNodes(keyed)).toEqual({});
  });
});
