// Tells events of the protocol from imitations.
import { describe, expect, it } from "vitest";
import {
  encodeProtocolLog,
  LogSequence,
  MEMORY_ACCOUNT,
  MEMORY_DEPLOYMENT,
  repeatAddressByte,
  repeatHashByte,
} from "../../tests/support/index/memory-index.ts";
import type { Hex } from "../lib/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import { createLogDecoder } from "./decode-logs.ts";
import { sessionKeys } from "./domains/policies.ts";
import { domains } from "./domains.ts";

const decoder = createLogDecoder(MEMORY_DEPLOYMENT);
const decode = (log: ChainLog) => decoder.decode(log, 5n);
const OUTSIDER = repeatAddressByte("66");

const revoked = encodeProtocolLog("AgentRegistry", "AgentRevoked", { agentId: 3n }, { block: 7, index: 2 });
const keyArgs = { sessionKey: repeatAddressByte("4e"), expiresAt: 9, active: true };
const keyUpdated = encodeProtocolLog("PolicyAccount", "SessionKeyUpdated", keyArgs);

describe("a log", () => {
  it("decodes a log of a contract of the deployment", () => {
    expect(decode(revoked)).toMatchObject({
      contract: "AgentRegistry",
      name: "AgentRevoked",
      args: { agentId: 3n },
      address: MEMORY_DEPLOYMENT.contracts.AgentRegistry,
      blockNumber: 7n,
      timestamp: 5n,
      txHash: revoked.transactionHash,
      logIndex: 2,
    });
  });

  it("ignores a log of an unknown contract even if it imitates a registry", () => {
    expect(decode({ ...revoked, address: OUTSIDER })).toBeNull();
  });

  it("ignores a log of a contract that does not declare the event", () => {
    expect(decode({ ...revoked, address: MEMORY_DEPLOYMENT.contracts.IntentBook })).toBeNull();
  });

  it("ignores a log with an unknown topic, or without topics", () => {
    expect(decode({ ...revoked, topics: [repeatHashByte("12")] })).toBeNull();
    expect(decode({ ...revoked, topics: [] })).toBeNull();
  });

  it("decodes a log of an account from any emitter", () => {
    expect(decode(keyUpdated)).toMatchObject({
      contract: "PolicyAccount",
      address: MEMORY_ACCOUNT,
      args: keyArgs,
    });
    expect(decode({ ...keyUpdated, address: OUTSIDER })).toMatchObject({ address: OUTSIDER });
  });
});

describe("a log that breaks the event's form", () => {
  const [topic0 = "0x", topic1 = "0x"] = keyUpdated.topics;
  const word = (digits: string) => digits.padStart(64, "0");
  const broken: readonly [string, Partial<ChainLog>][] = [
    ["no data", { data: "0x" }],
    ["half of the data", { data: `0x${word("9")}` }],
    ["a boolean of 2", { data: `0x${word("9")}${word("2")}` }],
    ["a time beyond 48 bits", { data: `0x${word("1000000000000")}${word("1")}` }],
    ["a topic too few", { topics: [topic0] }],
    ["a topic too many", { topics: [topic0, topic1, topic1] }],
    ["an address with dirty bytes", { topics: [topic0, `0x01${topic1.slice(4)}` as Hex] }],
  ];

  it.each(broken)("ignores a malformed log that imitates an account: %s", (_, change) => {
    expect(decode({ ...keyUpdated, ...change })).toBeNull();
  });

  it("does not store a malformed log of an account, and stores the next one", async () => {
    const story = new LogSequence().append("PolicyAccount", "SessionKeyUpdated", keyArgs, { data: "0x01" });
    story.append("PolicyAccount", "SessionKeyUpdated", keyArgs);
    expect((await story.rows()).one(sessionKeys)).toMatchObject({ block_number: 2n });
  });

  it.each<[string, Partial<ChainLog>]>([
    ["no topics", { topics: revoked.topics.slice(0, 1) }],
    ["too many topics", { topics: [...revoked.topics, repeatHashByte("01")] }],
  ])("a malformed log of a registry stops the index: %s", (_, change) => {
    expect(() => decode({ ...revoked, ...change })).toThrow("log 2 of block 7 is not a valid AgentRevoked");
  });

  it("a malformed log of a registry stops the fold, so that nothing is skipped", async () => {
    const args = { agentId: 1n, metadataURI: "x", capabilitiesHash: repeatHashByte("01") };
    const story = new LogSequence().append("AgentRegistry", "AgentUpdated", args, { data: "0x1234" });
    await expect(story.rows()).rejects.toThrow("is not a valid AgentUpdated");
  });
});

describe("hostile text", () => {
  const register = (metadataURI: string, data?: Hex) => {
    const args = {
      merchantId: 1n,
      owner: MEMORY_ACCOUNT,
      payoutAddress: MEMORY_ACCOUNT,
      metadataURI,
      metadataHash: repeatHashByte("0d"),
    };
    return encodeProtocolLog(
      "CommerceRegistry",
      "MerchantRegistered",
      args,
      data === undefined ? {} : { data },
    );
  };
  const uriOf = (log: ChainLog) => (decode(log)?.args as { metadataURI: string } | undefined)?.metadataURI;

  it("reads a text of a megabyte completely", () => {
    const large = "🧭".repeat(2 ** 18);
    expect(uriOf(register(large))).toBe(large);
  });

  it("turns text with NUL or broken UTF-8 into text that can be stored", () => {
    const { data } = register("ab");
    const bytes = Buffer.from("00ff", "hex").toString("hex");
    const hostile = data.replace(Buffer.from("ab").toString("hex"), bytes) as Hex;
    expect(uriOf(register("", hostile))).toBe("\ufffd\ufffd");
  });

  it("makes text well-formed that ends inside a character or has half a surrogate pair", () => {
    for (const bytes of ["f09fa7", "eda080", "c0af", "fffe41"]) {
      const { data } = register("x".repeat(bytes.length / 2));
      const plain = Buffer.from("x".repeat(bytes.length / 2)).toString("hex");
      const text = uriOf(register("", data.replace(plain, bytes) as Hex)) ?? "";
      expect(Buffer.from(text, "utf8").toString("utf8")).toBe(text);
      expect(text).toContain("\ufffd");
    }
  });
});

describe("the log filter", () => {
  it("the log filter has every event of the deployment, and account events from any emitter", () => {
    expect([...decoder.addresses].sort()).toEqual(Object.values(MEMORY_DEPLOYMENT.contracts).sort());
    expect(new Set(decoder.anyEmitterTopics0).size).toBe(2);
    expect(decoder.anyEmitterTopics0).toContain(keyUpdated.topics[0]);
    expect(decoder.topics0).not.toContain(keyUpdated.topics[0]);
    const ruled = domains.filter((each) => !each.anyEmitter).flatMap((each) => Object.keys(each.events));
    expect(decoder.topics0).toHaveLength(ruled.length);
  });
});
