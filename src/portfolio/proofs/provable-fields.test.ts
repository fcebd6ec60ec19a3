// The fields of an exposure: the prover lists the same as the verifier finds, so that each has a claim or the reason for none.
import { readReport } from "@sextant/client/verify/report";
import { expect, it } from "vitest";
import { exampleExposure } from "../../schema/portfolio/examples.ts";
import type { Exposure } from "../../schema/portfolio/exposure.ts";
import { unprovenField } from "./claim-field.ts";
import { listExposureFields } from "./provable-fields.ts";

const [given] = exampleExposure.permissions;
const permissionOf = (changes: object) => ({ ...given, ...changes }) as Exposure["permissions"][number];
const WITHOUT_AMOUNT = { rawAllowance: null, allowance: null, via: null, expiresAt: null };

it.each([
  ["the operator of a collection", { ...WITHOUT_AMOUNT, kind: "nft-operator" }, "kind", "nft"],
  ["an owner", { ...WITHOUT_AMOUNT, kind: "owner" }, "kind", "other_permission"],
  ["a debt that may be taken", { kind: "borrow-delegation" }, "rawAllowance", "other_permission"],
])("%s has the reason why it is not proven, where the verifier expects it", (_, changes, name, reason) => {
  const exposure = { ...exampleExposure, permissions: [permissionOf(changes)] } as Exposure;
  const fields = listExposureFields(exposure).flatMap((chain) => chain.fields);
  expect(fields).toEqual([{ path: `/permissions/0/${name}`, kind: "unprovable", reason }]);
  const expected = readReport(JSON.parse(JSON.stringify(exposure)))?.fields.map(({ path }) => path);
  expect(fields.map(({ path }) => path)).toEqual(expected);
  expect(fields.map((field) => unprovenField(field, reason).claim)).toEqual([
    { path: `/permissions/0/${name}`, kind: "none", reason },
  ]);
});

it("the approval of an NFT has a field for its owner, where the verifier expects it", () => {
  const permissions = [permissionOf({ ...WITHOUT_AMOUNT, kind: "nft-approval", tokenId: "7" })];
  const exposure = { ...exampleExposure, permissions } as Exposure;
  const fields = listExposureFields(exposure).flatMap((chain) => chain.fields);
  const owner = { kind: "owner", token: given?.contract, tokenId: 7n, value: BigInt(exposure.address) };
  expect(fields).toEqual([
    { path: "/permissions/0/kind", kind: "unprovable", reason: "nft" },
    { path: "/permissions/0/tokenId", ...owner },
  ]);
  const expected = readReport(JSON.parse(JSON.stringify(exposure)))?.fields;
  expect(expected?.map(({ path, kind }) => [path, kind])).toEqual([
    ["/permissions/0/kind", null],
    ["/permissions/0/tokenId", "owner"],
  ]);
});

it("allowances that a request asks for are proven first, zero too, and an unknown one says so", () => {
  const [chain, chainId] = [given?.chain, given?.chainId];
  const pair = { chain, chainId, contract: given?.contract, expiresAt: null };
  const [first, second] = [`0x${"1".repeat(40)}`, `0x${"2".repeat(40)}`];
  const allowances = [
    { ...pair, kind: "erc20-allowance", spender: first, rawAllowance: "0" },
    { ...pair, kind: "permit2-allowance", spender: first, rawAllowance: "0" },
    { ...pair, kind: "erc20-allowance", spender: second, rawAllowance: null },
    { ...pair, kind: "permit2-allowance", spender: second, rawAllowance: null },
  ];
  const permissions = [permissionOf({ ...WITHOUT_AMOUNT, kind: "owner" })];
  const exposure = { ...exampleExposure, permissions, allowances } as Exposure;
  const fields = listExposureFields(exposure).flatMap((each) => each.fields);
  expect(fields.map(({ path, kind }) => [path, kind])).toEqual([
    ["/allowances/0/rawAllowance", "allowance"],
    ["/allowances/1/rawAllowance", "permit2"],
    ["/allowances/2/rawAllowance", "unprovable"],
    ["/allowances/3/rawAllowance", "unprovable"],
    ["/permissions/0/kind", "unprovable"],
  ]);
  const expected = readReport(JSON.parse(JSON.stringify(exposure)))?.fields ?? [];
  expect(expected.map(({ path }) => path).sort()).toEqual(fields.map(({ path }) => path).sort());
  expect(expected.filter(({ kind }) => kind !== null)).toHaveLength(2);
});
