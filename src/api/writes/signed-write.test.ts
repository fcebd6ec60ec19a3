// The typed data of a write, compared with docs/writing.md and with a plain EIP-712 encoding.
import { readFileSync } from "node:fs";
import { encodeAbiParameters, keccak256, stringToBytes, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { signWrite } from "../../../tests/support/http/sign-write.ts";
import {
  hashWrite,
  metadataWriteSubject,
  reservationWriteSubject,
  schemaWriteSubject,
} from "./signed-write.ts";

const page = readFileSync("docs/writing.md", "utf8");
const domain = { chainId: 84_532, intentBook: `0x${"11".repeat(20)}` } as const;
const body = '{"execution_data":"0xdeadbeef"}';
const contentHash = keccak256(stringToBytes(body));
const write = {
  ...metadataWriteSubject(7n),
  audience: "https://api.example.com",
  version: 1_767_225_600_000n,
  deadline: 1_767_225_900n,
};

describe("a signed write", () => {
  it("matches the example of docs/writing.md", async () => {
    const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
    const headers = await signWrite(account, domain, { ...write, body });
    const digest = hashWrite(domain, { ...write, contentHash });
    for (const shown of [body, contentHash, digest, headers["x-write-signature"]]) {
      expect(page).toContain(`\`${shown}\``);
    }
    expect(headers).toMatchObject({ "x-write-version": "1767225600000", "x-write-deadline": "1767225900" });
  });

  it("hashes a write as EIP-712 specifies", () => {
    const hash = (text: string) => keccak256(stringToHex(text));
    const type =
      "Write(string audience,string action,string resource,bytes32 contentHash,uint64 version,uint64 deadline)";
    expect(page).toContain(type);
    const words = ["bytes32", "bytes32", "bytes32", "bytes32", "bytes32", "uint64", "uint64"].map((each) => ({
      type: each,
    }));
    const struct = keccak256(
      encodeAbiParameters(words, [
        hash(type),
        hash("https://api.example.com"),
        hash("putIntentMetadata"),
        hash("/intents/7/metadata"),
        contentHash,
        write.version,
        write.deadline,
      ]),
    );
    const domainType = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
    const separator = keccak256(
      encodeAbiParameters(
        ["bytes32", "bytes32", "bytes32", "uint256", "address"].map((each) => ({ type: each })),
        [hash(domainType), hash("SextantIndex"), hash("1"), 84_532n, domain.intentBook],
      ),
    );
    const digest = keccak256(`0x1901${separator.slice(2)}${struct.slice(2)}`);
    expect(hashWrite(domain, { ...write, contentHash })).toBe(digest);
  });

  it("uses the resources and actions of docs/writing.md", () => {
    const hash = `0x${"Ab".repeat(32)}` as const;
    const subjects = [metadataWriteSubject("7"), reservationWriteSubject(hash), schemaWriteSubject(hash)];
    expect(subjects.map(({ resource }) => resource)).toEqual([
      "/intents/7/metadata",
      `/intents/metadata/${hash.toLowerCase()}`,
      `/attestations/schemas/${hash.toLowerCase()}`,
    ]);
    for (const { action } of subjects) expect(page).toContain(`\`${action}\``);
  });
});
